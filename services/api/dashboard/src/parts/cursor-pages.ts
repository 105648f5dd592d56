import { useState } from 'preact/hooks';
import { type Asked, useAnswer } from '../api/answer.ts';
import { queryOf } from '../api/client.ts';

/** A list that the API gives page by page. */
interface CursorPage {
  readonly next?: string | number | null;
}

export interface CursorPages<T> extends Asked<T> {
  /** Pages before this one. */
  readonly page: number;
  readonly onBack: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
}

/** Asks for one page of a list after the other; `query` begins at the first again when it changes. */
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
