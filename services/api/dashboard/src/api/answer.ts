import { useCallback, useContext, useEffect, useState } from 'preact/hooks';
import { ask, sentenceOf } from './client.ts';
import { LiveContext } from './live.ts';

/** What a page has of an answer that it asked for. */
export interface Asked<T> {
  readonly answer: T | undefined;
  /** Why there is none, or why it is an old one. */
  readonly problem: string | undefined;
  readonly isLoading: boolean;
  /** Asks again, now. */
  readonly again: () => void;
}

/**
 * Asks for a path, again when it changes, when the API has been away or has let somebody in, and every `everyMs` while the page is looked at. The last
 * answer stays until the next one comes. Without a path nothing is asked.
 */
export function useAnswer<T>(path: string | undefined, everyMs?: number): Asked<T> {
  const { epoch, connection } = useContext(LiveContext).snapshot;
  const isSignedOut = connection.state === 'signed out';
  const [round, setRound] = useState(0);
  const [found, setFound] = useState<{ path: string; answer: T } | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [isLoading, setLoading] = useState(path !== undefined);
  const again = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    if (path === undefined || isSignedOut) return;
    const leaving = new AbortController();
    setLoading(true);
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
        if (!leaving.signal.aborted) setLoading(false);
      });
    return () => leaving.abort();
  }, [path, round, epoch, isSignedOut]);
  useEffect(() => {
    if (everyMs === undefined || path === undefined) return;
    const timer = setInterval(() => {
      if (!document.hidden) again();
    }, everyMs);
    return () => clearInterval(timer);
  }, [path, everyMs, again]);
  const answer = found !== undefined && found.path === path ? found.answer : undefined;
  return { answer, problem, isLoading: isLoading && answer === undefined, again };
}
