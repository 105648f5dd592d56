import { useState } from 'preact/hooks';
import { type Asked, useAnswer } from '../api/answer.ts';
import { queryOf } from '../api/client.ts';

/** A page of a list, as the API answers it. */
interface CursorPage {
  readonly next?: string | number | null;
}

export interface CursorPages<T> extends Asked<T> {
  /** Number of pages before this one. */
  readonly page: number;
  readonly onBack: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
}

/** Requests a list one page at a time. A changed `query` starts at the first page again. */
export function useCursorPages<T extends CursorPage>(
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
  everyMs: number,
): CursorPages<T> {
  const base = `${path}${queryOf(query)}`;
  const [at, setAt] = useState<{ base: string; cursors: readonly string[] }>({ base, cursors: [] });
  const cursors = at.base === base ? at.cursors : [];
  const asked = useAnswer<T>(`${path}${queryOf({ ...query, cursor: cursors.at(-1) })}`, everyMs);
  const next = asked.answer?.next;
  return {
    ...asked,
    page: cursors.length,
    onBack: cursors.length === 0 ? undefined : () => setAt({ base, cursors: cursors.slice(0, -1) }),
    onNext:
      next === undefined || next === null || next === ''
        ? undefined
        : () => setAt({ base, cursors: [...cursors, String(next)] }),
  };
}
