import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, sentenceOf } from '../api/client.ts';

interface SignInProps {
  readonly problem?: string | undefined;
  /** The user was signed in until now. */
  readonly hasEnded: boolean;
  readonly onSignedIn: () => void;
}

/** The form that asks for a token. */
export function SignIn({ problem: before, hasEnded, onSignedIn }: SignInProps) {
  const field = useRef<HTMLInputElement>(null);
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState(before ?? '');
  useEffect(() => {
    const before = document.title;
    document.title = 'Sign in – Trawl';
    field.current?.focus();
    return () => {
      document.title = before;
    };
  }, []);
  const signIn = async (): Promise<void> => {
    setProblem('');
    try {
      await ask('POST', 'api/session', { token });
      onSignedIn();
    } catch (error: unknown) {
      setProblem(sentenceOf(error));
    }
  };
  return (
    <main class="sign-in">
      <h1>Sign in to Trawl</h1>
      {hasEnded && (
        <p role="alert">Your session has ended, or its token was removed. Sign in to continue where you were.</p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void signIn();
        }}
      >
        <label class="field">
          <span>Token</span>
          <input
            ref={field}
            type="password"
            autocomplete="current-password"
            required
            value={token}
            onInput={(event) => setToken(event.currentTarget.value.trim())}
          />
          <small>One of API_TOKENS. With Compose, the first is printed by docker compose logs api.</small>
        </label>
        {problem !== '' && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="primary" disabled={token === ''}>
          Sign in
        </button>
      </form>
    </main>
  );
}
