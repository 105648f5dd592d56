import { count } from '../../../../../shared/control/format.ts';

interface ReasonsProps {
  readonly label: string;
  readonly reasons: Readonly<Record<string, number>>;
  /** Returns the address that a reason links to. */
  readonly link?: (reason: string) => string;
  readonly none: string;
  /** Shows the bars in the colour of failures. */
  readonly isBad?: boolean;
}

/** Counts by reason, the largest first, each with a bar. */
export function Reasons({ label, reasons, link, none, isBad = false }: ReasonsProps) {
  const rows = Object.entries(reasons)
    .filter(([, value]) => value > 0)
    .sort(([, a], [, b]) => b - a);
  const most = rows[0]?.[1] ?? 0;
  if (rows.length === 0) return <p class="none">{none}</p>;
  return (
    <ul class={isBad ? 'reasons failed' : 'reasons'} aria-label={label}>
      {rows.map(([reason, value]) => (
        <li key={reason}>
          <span class="name">{link === undefined ? reason : <a href={link(reason)}>{reason}</a>}</span>
          <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect x="0" y="0" width={(value / most) * 100} height="4" />
          </svg>
          <span class="number">{count(value)}</span>
        </li>
      ))}
    </ul>
  );
}
