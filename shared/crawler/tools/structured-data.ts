import type { NodeHandle } from './node-handle.ts';
import { folded } from './text.ts';

/** An object of JSON-LD, as its page writes it. */
export type JsonLdObject = Readonly<Record<string, unknown>>;

/**
 * The objects of all `<script type="application/ld+json">` of a page: those at the top, in lists, and in `@graph`, in that order. With
 * a type, only those that have it, however it is written: `Product`, `schema:Product` or `https://schema.org/Product`. A script that
 * isn't JSON is passed over.
 */
export function jsonLdIn(page: NodeHandle, type?: string): readonly JsonLdObject[] {
  const objects: JsonLdObject[] = [];
  for (const script of page.named('script')) {
    if (!/^application\/ld\+json\b/i.test(script.attribute('type')?.trim() ?? '')) continue;
    const waiting: unknown[] = [writtenJson(script.source)];
    while (waiting.length > 0) {
      const value = waiting.pop();
      // Not as arguments of one call: there may be too many.
      if (Array.isArray(value)) for (const each of value.toReversed()) waiting.push(each);
      else if (isObject(value)) {
        // An object that only holds a graph is no object of the page.
        if (Object.keys(value).some((key) => key !== '@graph' && key !== '@context')) objects.push(value);
        waiting.push(value['@graph']);
      }
    }
  }
  return type === undefined ? objects : objects.filter((object) => typesOf(object).includes(localName(type)));
}

function typesOf(object: JsonLdObject): readonly string[] {
  return [object['@type']].flat().flatMap((type) => (typeof type === 'string' ? [localName(type)] : []));
}

function localName(type: string): string {
  return type.slice(Math.max(type.lastIndexOf('/'), type.lastIndexOf('#'), type.lastIndexOf(':')) + 1);
}

/** The value of JSON as people write it into pages: in comments or CDATA, with control characters in its strings, with a comma after the last item. */
export function writtenJson(source: string): unknown {
  const text = jsonOf(source);
  return parsedJson(text) ?? parsedJson(withoutLastCommas(text));
}

/** Without a comma after the last item of a list or an object. */
function withoutLastCommas(text: string): string {
  let isInString = false;
  return text.replace(/\\.|"|,(?=\s*[}\]])/gs, (token) => {
    if (token === '"') isInString = !isInString;
    return token === ',' && !isInString ? '' : token;
  });
}

/** Without what people put around JSON, and inside its strings, that JSON doesn't have: comments, CDATA, control characters. */
function jsonOf(source: string): string {
  const opened = source.trim().replace(/^(?:\/[/*]\s*)?(?:<!--|<!\[CDATA\[)/, '');
  const text = without(opened, ['*/'], 'startsWith');
  // No JSON ends with one of these.
  const closed = CLOSERS.reduce((rest, closers) => without(rest, closers, 'endsWith'), text);
  return closed.replaceAll(/[\0-\x1f]/g, ' ');
}

const CLOSERS = [[';'], ['*/'], ['-->', ']]>'], ['//', '/*']];

function without(text: string, marks: readonly string[], end: 'startsWith' | 'endsWith'): string {
  const trimmed = text.trim();
  const mark = marks.find((each) => trimmed[end](each));
  if (mark === undefined) return trimmed;
  return (end === 'startsWith' ? trimmed.slice(mark.length) : trimmed.slice(0, -mark.length)).trim();
}

/** The value of a JSON text; undefined if it isn't one. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value at a path in a JSON value, such as `items[0].price` or `items.0.price`; undefined if there is nothing. */
export function atPath(value: unknown, path: string): unknown {
  let at = value;
  for (const key of path.split(/[.[\]]+/).filter((part) => part !== '')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  return at;
}

function isObject(value: unknown): value is JsonLdObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const META_NAMES = ['name', 'property', 'itemprop', 'http-equiv'];

/** The content of the first `<meta>` with this `name`, `property`, `itemprop` or `http-equiv`; its case doesn't matter. */
export function metaIn(page: NodeHandle, name: string): string | undefined {
  const wanted = name.toLowerCase();
  for (const meta of page.named('meta')) {
    const content = meta.attribute('content');
    if (content === undefined) continue;
    const names = META_NAMES.map((attribute) => meta.attribute(attribute));
    if (names.some((given) => given?.trim().toLowerCase() === wanted)) return folded(content);
  }
  return undefined;
}

const GRAPH = /^(?:og|article|book|profile|product|music|video):/;

/**
 * What a page says of itself by the Open Graph protocol: `og:title` as `title`, `og:image:width` as `image:width`, and properties
 * of other prefixes, such as `article:author` and `product:price:amount`, by their whole names. The first of two counts.
 */
export function openGraphIn(page: NodeHandle): Readonly<Record<string, string>> {
  const said = new Map<string, string>();
  for (const meta of page.named('meta')) {
    const property = (meta.attribute('property') ?? meta.attribute('name') ?? '').trim().toLowerCase();
    const content = meta.attribute('content');
    if (!GRAPH.test(property) || content === undefined) continue;
    const name = property.replace(/^og:/, '');
    if (!said.has(name)) said.set(name, folded(content));
  }
  return Object.fromEntries(said);
}
