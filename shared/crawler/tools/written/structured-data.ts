import { isObject } from '../../../task/is-object.ts';
import type { NodeHandle } from '../node-handle.ts';
import { folded } from '../text.ts';
import { writtenJson } from './written-json.ts';

/** A JSON-LD object, as its page writes it. */
export type JsonLdObject = Readonly<Record<string, unknown>>;

/**
 * Returns the objects of all `<script type="application/ld+json">` on a page, in document order: top-level objects, and those in lists and in
 * `@graph`. With a type, returns only objects of that type, however it is written: `Product`, `schema:Product` or
 * `https://schema.org/Product`. Skips a script that isn't JSON.
 */
export function jsonLdIn(page: NodeHandle, type?: string): readonly JsonLdObject[] {
  const objects: JsonLdObject[] = [];
  for (const script of page.named('script')) {
    if (!/^application\/ld\+json\b/i.test(script.attribute('type')?.trim() ?? '')) continue;
    const waiting: unknown[] = [writtenJson(script.source)];
    while (waiting.length > 0) {
      const value = waiting.pop();
      // Pushed one by one: there may be too many for the arguments of one call.
      if (Array.isArray(value)) for (const each of value.toReversed()) waiting.push(each);
      else if (isObject(value)) {
        // An object that only wraps a graph doesn't count.
        if (Object.keys(value).some((key) => key !== '@graph' && key !== '@context')) objects.push(value);
        waiting.push(value['@graph']);
      }
    }
  }
  return type === undefined ? objects : objects.filter((object) => hasType(object, type));
}

/** Returns whether an object has a type, however both are written. */
export function hasType(object: JsonLdObject, type: string): boolean {
  return typesOf(object).includes(localName(type));
}

function typesOf(object: JsonLdObject): readonly string[] {
  return [object['@type']].flat().flatMap((type) => (typeof type === 'string' ? [localName(type)] : []));
}

/** Returns a type without its vocabulary: `Product` for `schema:Product` and `https://schema.org/Product`. */
export function localName(type: string): string {
  return type.slice(Math.max(type.lastIndexOf('/'), type.lastIndexOf('#'), type.lastIndexOf(':')) + 1);
}

const META_NAMES = ['name', 'property', 'itemprop', 'http-equiv'];

/** Returns the content of the first `<meta>` with this `name`, `property`, `itemprop` or `http-equiv`, in any case. */
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
 * Returns a page's Open Graph properties: `og:title` as `title`, `og:image:width` as `image:width`, and properties with other prefixes, such
 * as `article:author` and `product:price:amount`, by their full names. The first of two with the same name counts.
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
