import type { ComponentChildren } from 'preact';

export interface Figure {
  readonly name: string;
  readonly value: ComponentChildren;
  /** Small text below the value. */
  readonly note?: ComponentChildren;
  readonly isBad?: boolean;
}

/** The most important numbers of a page. */
export function Figures({ label, figures }: { readonly label: string; readonly figures: readonly Figure[] }) {
  return (
    <dl class="figures" aria-label={label}>
      {figures.map(({ name, value, note, isBad }) => (
        <div key={name} class={isBad === true ? 'bad' : undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {note !== undefined && <dd class="note">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
