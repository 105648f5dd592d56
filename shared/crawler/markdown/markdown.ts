import type { AnyNode } from 'domhandler';
import type TurndownService from 'turndown';
import type { LinkBase } from '../../task/url/url.ts';
import { BoundedHtml } from './bounded-html.ts';
import { newConverter } from './converter.ts';

/**
 * Returns a node as markdown (CommonMark with GitHub's tables, footnotes and formulas), with absolute links. Leaves out parts that aren't for
 * readers, and anything beyond the limits of `page-limits.ts`, since the time taken is proportional to the content.
 */
export function markdownOf(node: AnyNode, base: LinkBase, { without, onCut }: MarkdownOptions = {}): string {
  converter ??= newConverter();
  const html = new BoundedHtml(node, base, without);
  const written = html.write();
  if (html.isCut) onCut?.();
  return converter.turndown(written);
}

export interface MarkdownOptions {
  /** Elements to leave out. */
  readonly without?: ReadonlySet<AnyNode>;
  /** Called if a part is left out because of the limits. */
  readonly onCut?: (() => void) | undefined;
}

let converter: TurndownService | undefined;
