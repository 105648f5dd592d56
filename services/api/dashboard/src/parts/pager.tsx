import { count } from '../../../../../shared/control/format.ts';

/** Rows of a long list shown at once. */
export const PAGE_ROWS = 100;

interface PagerProps {
  /** The kind of rows, such as `hosts`. */
  readonly of: string;
  readonly first: number;
  readonly rows: number;
  /** Rows of all pages; undefined if unknown. */
  readonly total?: number | undefined;
  readonly onBack: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
}

/** Says which part of a long list is shown, with buttons to the pages before and after it. */
export function Pager({ of, first, rows, total, onBack, onNext }: PagerProps) {
  if (onBack === undefined && onNext === undefined) return null;
  const ofAll = total === undefined ? '' : ` of ${count(total)}`;
  return (
    <nav class="pager" aria-label={`Pages of ${of}`}>
      <button type="button" class="small" disabled={onBack === undefined} onClick={onBack}>
        Back
      </button>
      <span>{rows === 0 ? 'none here' : `${count(first + 1)}–${count(first + rows)}${ofAll}`}</span>
      <button type="button" class="small" disabled={onNext === undefined} onClick={onNext}>
        Next
      </button>
    </nav>
  );
}
