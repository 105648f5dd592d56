import { shortened, visible } from '../visible.ts';

interface OtherProps {
  readonly children: string | undefined | null;
  /** Shows the whole text, however long it is. */
  readonly isWhole?: boolean;
}

/** A foreign text, such as a URL, a host or an error. It is always shown as plain text. */
export function Other({ children, isWhole = false }: OtherProps) {
  const text = children ?? '';
  return <span class="other">{visible(isWhole ? text : shortened(text))}</span>;
}
