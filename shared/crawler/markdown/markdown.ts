import type { AnyNode } from 'domhandler';
import type TurndownService from 'turndown';
import type { LinkBase } from '../../task/url/url.ts';
import { BoundedHtml } from './bounded-html.ts';
import { newConverter } from './converter.ts';

/**
 * What a node says as markdown (CommonMark, with tables, footnotes and formulas as GitHub has them), its links absolute. Parts that are
 * not for readers are left out, and so is what exceeds the limits of `page-limits.ts`, since the time is proportional to it.
 *
 * @param without elements that are left out
 */
export function markdownOf(node: AnyNode, base: LinkBase, without?: ReadonlySet<AnyNode>): string {
  converter ??= newConverter();
  return converter.turndown(new BoundedHtml(node, base, without).write());
}

let converter: TurndownService | undefined;
