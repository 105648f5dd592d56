import type { AnyNode, Element } from 'domhandler';
import { firstMatch } from '../../task/first-match.ts';
import { isElement } from '../tools/nodes.ts';

/** Attributes with the address of a picture that a script loads later; until then, its `src` is a placeholder. */
const LATER = ['data-src', 'data-lazy-src', 'data-original', 'data-lazy'] as const;
const LATER_SETS = ['data-srcset', 'data-lazy-srcset'] as const;
/** Maximum children of a `<picture>` that are checked; a dozen sizes and formats are common. */
const MOST_IN_PICTURE = 64;

/** Returns the addresses of an `<img>`, as written, the best first: a script's, its `src`, the largest of its `srcset`, those of its `<picture>`. */
export function sourcesOf(image: Element): readonly string[] {
  const { attribs, parent } = image;
  const around =
    parent !== null && isElement(parent) && parent.name === 'picture' ? parent.children.slice(0, MOST_IN_PICTURE) : [];
  const sets = around.flatMap((child) => (isElement(child) && child.name === 'source' ? setsOf(child) : []));
  const written = [
    ...LATER.map((name) => attribs[name]),
    ...LATER_SETS.map((name) => largestOf(attribs[name])),
    attribs.src,
    largestOf(attribs.srcset),
    ...sets,
  ];
  return written.filter((address) => address !== undefined);
}

/** Returns whether a `<noscript>` replaces the picture before it, which a script would load. */
export function isForPicture(noscript: Element): boolean {
  let before: AnyNode | null = noscript.prev;
  while (before !== null && !isElement(before)) before = before.prev;
  return before !== null && before.name === 'img' && sourcesOf(before).every(isNoPlace);
}

function setsOf({ attribs }: Element): readonly (string | undefined)[] {
  return [...LATER_SETS, 'srcset' as const].map((name) => largestOf(attribs[name]));
}

/** Returns the address with the largest width or density in a `srcset` (HTML standard, section 4.8.4.2.1). */
function largestOf(set: string | undefined): string | undefined {
  let largest: { readonly address: string; readonly size: number } | undefined;
  const text = set ?? '';
  for (let at = firstMatch(text, ADDRESS); at < text.length; at = firstMatch(text, ADDRESS, at)) {
    const end = firstMatch(text, SPACE, at);
    // An address ends at white space; a comma at its end separates it from the next.
    const address = text.slice(at, end).replace(/,$/, '');
    DESCRIPTOR.lastIndex = firstMatch(text, NO_SPACE, end);
    const [descriptor] = DESCRIPTOR.exec(text) ?? [];
    const size = Number.parseFloat(descriptor ?? '1');
    if (address !== '' && (largest === undefined || size > largest.size)) largest = { address, size };
    at = descriptor === undefined ? end : DESCRIPTOR.lastIndex;
  }
  return largest?.address;
}

const ADDRESS = /[^\s,]/g;
const SPACE = /\s/g;
const NO_SPACE = /\S/g;
/** A width or a density. Those in use have at most a dozen characters. */
const DESCRIPTOR = /\d{1,100}(?:\.\d{1,100})?[wx](?=[\s,]|$)/y;

/** Returns whether an address is empty or contains the content itself. */
export function isNoPlace(address: string): boolean {
  return /^(?:data:|$)/i.test(address.trimStart());
}
