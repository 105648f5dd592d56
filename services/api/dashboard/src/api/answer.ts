import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { ask, sentenceOf } from './client.ts';
import { LiveContext } from './live.ts';

/** An API answer as a page sees it: loading, current or stale. */
export interface Asked<T> {
  readonly answer: T | undefined;
  /** Why the answer is missing or old. */
  readonly problem: string | undefined;
  readonly isLoading: boolean;
  /** Asks again, now. */
  readonly again: () => void;
}

/**
 * Requests a path, and requests it again when it changes, when the API is back or the user has signed in, and every `everyMs` while the tab
 * is visible, unless a request is still under way. The last answer stays until the next one comes. Without a path it does nothing.
 */
export function useAnswer<T>(path: string | undefined, everyMs?: number): Asked<T> {
  const { epoch, connection } = useContext(LiveContext).snapshot;
  const isSignedOut = connection.state === 'signed out';
  const [round, setRound] = useState(0);
  const [found, setFound] = useState<{ path: string; answer: T } | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [isLoading, setLoading] = useState(path !== undefined);
  const isAsking = useRef(false);
  const again = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    if (path === undefined || isSignedOut) return;
    const leaving = new AbortController();
    setLoading(true);
    isAsking.current = true;
    ask<T>('GET', path, undefined, leaving.signal)
      .then(
        (answer) => {
          setFound({ path, answer });
          setProblem(undefined);
        },
        (error: unknown) => {
          if (!leaving.signal.aborted) setProblem(sentenceOf(error));
        },
      )
      .finally(() => {
        if (leaving.signal.aborted) return;
        isAsking.current = false;
        setLoading(false);
      });
    return () => {
      isAsking.current = false;
      leaving.abort();
    };
  }, [path, round, epoch, isSignedOut]);
  useEffect(() => {
    if (everyMs === undefined || path === undefined) return;
    const timer = setInterval(() => {
      if (!document.hidden && !isAsking.current) again();
    }, everyMs);
    return () => clearInterval(timer);
  }, [path, everyMs, again]);
  const answer = found !== undefined && found.path === path ? found.answer : undefined;
  return { answer, problem, isLoading: isLoading && answer === undefined, again };
}
