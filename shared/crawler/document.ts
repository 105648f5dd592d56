import { Parser } from 'htmlparser2';
import { readLink } from '../task/url.ts';

/** What one pass over a page finds. */
export interface Document {
  /** The text of the first `<title>`, white space folded; null without one. */
  readonly title: string | null;
  /** The links of `<a>` and `<area>`, absolute, without fragments, each once, in the order they stand. */
  readonly links: readonly string[];
}

/** A page with more links than this keeps the first ones. */
export const MAX_LINKS = 10_000;
const MAX_TITLE_LENGTH = 2_000;

/** Reads title and links of an HTML page in one streaming pass; no tree is built. `url` is where the page was found. */
export function readDocument(html: string, url: string): Document {
  let tag = '';
  let title = '';
  let titleState: 'ahead' | 'inside' | 'over' = 'ahead';
  let svgDepth = 0;
  let base = url;
  let hasBase = false;
  const links = new Set<string>();
  const parser = new Parser({
    onopentagname(name) {
      tag = name;
      if (name === 'svg') svgDepth++;
      // An SVG picture has titles of its own.
      if (name === 'title' && titleState === 'ahead' && svgDepth === 0) titleState = 'inside';
    },
    onattribute(name, value) {
      if (name !== 'href') return;
      if (tag === 'a' || tag === 'area') {
        if (links.size < MAX_LINKS) addLink(links, value, base);
      } else if (tag === 'base' && !hasBase) {
        base = URL.parse(value, url)?.href ?? url;
        hasBase = true;
      }
    },
    ontext(text) {
      if (titleState === 'inside' && title.length < MAX_TITLE_LENGTH) title += text;
    },
    onclosetag(name) {
      if (titleState === 'inside' && name === 'title') titleState = 'over';
      else if (name === 'svg' && svgDepth > 0) svgDepth--;
    },
  });
  parser.end(html);
  const folded = title.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_TITLE_LENGTH);
  return { title: folded === '' ? null : folded, links: [...links] };
}

/** Elements whose content nobody reads. */
const UNREAD = new Set(['script', 'style', 'noscript', 'template', 'head', 'svg']);
/** Elements that begin a new line. */
const BLOCKS = new Set(
  'address article aside blockquote br dd div dl dt figcaption footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table td th tr ul'.split(
    ' ',
  ),
);

/** The text of an HTML page that a reader sees, a line per block, white space folded. */
export function readText(html: string): string {
  const parts: string[] = [];
  let unread = 0;
  const parser = new Parser({
    onopentagname(name) {
      if (UNREAD.has(name)) unread++;
      else if (BLOCKS.has(name)) parts.push('\n');
    },
    ontext(text) {
      if (unread === 0) parts.push(text.replaceAll(/\s+/g, ' '));
    },
    onclosetag(name) {
      if (UNREAD.has(name)) unread--;
      else if (BLOCKS.has(name)) parts.push('\n');
    },
  });
  parser.end(html);
  return parts
    .join('')
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}

function addLink(links: Set<string>, href: string, base: string): void {
  // `#top` and the like lead nowhere else.
  if (href === '' || href.startsWith('#')) return;
  const link = readLink(href.trim(), base);
  if (link !== undefined) links.add(link.href);
}
