import { MAX_KEPT_BYTES, MAX_KEPT_DEPTH } from '../task/task/fields.ts';
import type { Kept } from './condition.ts';
import { CrawlerFault } from './failures/crawler-fault.ts';

/** Maximum bytes that the links of a page can keep together. */
export const MAX_PAGE_KEPT_BYTES = 4_194_304;

/**
 * Returns a copy of `kept`, unaffected by later changes to its objects, and its size as JSON.
 *
 * @throws CrawlerFault if it isn't plain JSON, or is too large
 */
export function writtenKept(kept: Kept, step: string): { readonly kept: Kept; readonly bytes: number } {
  const odd = oddIn(kept, 'kept');
  if (odd !== undefined) throw new CrawlerFault(`the kept of links to ${step} can't be written as JSON: ${odd}`);
  const text = JSON.stringify(kept);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_KEPT_BYTES) return { kept: JSON.parse(text) as Kept, bytes };
  throw new CrawlerFault(`a link to ${step} keeps ${bytes} bytes, more than ${MAX_KEPT_BYTES}`, 'too_large');
}

/** Describes the first part of a value that JSON would lose or change; undefined if there is none. */
function oddIn(value: unknown, path: string, depth = 0): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${path} is ${value}`;
  if (typeof value !== 'object') return `${path} is ${value === undefined ? 'undefined' : `a ${typeof value}`}`;
  if (depth === MAX_KEPT_DEPTH) return `${path} is nested more than ${MAX_KEPT_DEPTH} deep`;
  if (!Array.isArray(value) && ![Object.prototype, null].includes(Object.getPrototypeOf(value)))
    return `${path} is a ${value.constructor?.name ?? 'class'}, not a plain object`;
  for (const [name, each] of Object.entries(value)) {
    // An optional field that isn't set.
    if (each === undefined && !Array.isArray(value)) continue;
    const odd = oddIn(each, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`, depth + 1);
    if (odd !== undefined) return odd;
  }
  return undefined;
}
