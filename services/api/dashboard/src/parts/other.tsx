import { shortened, visible } from '../visible.ts';

interface OtherProps {
  readonly children: string | undefined | null;
  /** However long it is. */
  readonly isWhole?: boolean;
}

/** A text of others: a URL, a host, an error. It is shown as text, whatever is in it. */
export function Other({ children, isWhole = false }: OtherProps) {
  const text = children ?? '';
  return <span class="other">{visible(isWhole ? text : shortened(text))}</span>;
}
