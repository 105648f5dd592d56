import type { AnyNode } from 'domhandler';
import type TurndownService from 'turndown';
import type { LinkBase } from '../../task/url/url.ts';
import { BoundedHtml } from './bounded-html.ts';
import { newConverter } from './converter.ts';

/**
 * What a node says as markdown (CommonMark, with tables, footnotes and formulas as GitHub has them), its links absolute. Parts that are
 * not for readers are left out, and so is what exceeds the limits of `page-limits.ts`, since the time is proportional to it.
 */
export function markdownOf(node: AnyNode, base: LinkBase, { without, onCut }: MarkdownOptions = {}): string {
  converter ??= newConverter();
  const html = new BoundedHtml(node, base, without);
  const written = html.write();
  if (html.isCut) onCut?.();
  return converter.turndown(written);
}

export interface MarkdownOptions {
  /** Elements that are left out. */
  readonly without?: ReadonlySet<AnyNode>;
  /** Told if some of it is left out because of the limits. */
  readonly onCut?: (() => void) | undefined;
}

let converter: TurndownService | undefined;
