import { CrawlerFault } from '../failures/crawler-fault.ts';

/**
 * Returns a copy of an item, unaffected by later changes to its lists and plain objects.
 *
 * | in an item                                  | in the record                                     |
 * |---------------------------------------------|---------------------------------------------------|
 * | a field that is undefined                   | left out; null in a list                          |
 * | NaN, infinity                               | null                                              |
 * | an object with `toJSON`, such as a Date     | the result of `toJSON`                            |
 * | an object of a class with fields of its own | its fields                                        |
 * | a Map, a Set, a promise, an element of a page, a function, a bigint | refused: JSON would lose it |
 *
 * @param named the item's name in messages
 * @throws CrawlerFault if JSON would lose a part of the item
 */
export function itemAsJson(item: unknown, named = 'item'): unknown {
  try {
    return copied(item, named);
  } catch (error: unknown) {
    // The item is nested too deep or circular, which is reported when its record is written.
    if (error instanceof RangeError) return item;
    throw error;
  }
}

function copied(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) {
    if (isLost(value)) throw lost(path, typeof value);
    return value;
  }
  if (Array.isArray(value)) return value.map((each, at) => (isSimple(each) ? each : copied(each, `${path}[${at}]`)));
  if ('toJSON' in value && typeof value.toJSON === 'function') return value;
  const fields = Object.entries(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null)
    return Object.fromEntries(
      fields.map(([name, each]) => [name, isSimple(each) ? each : copied(each, `${path}.${name}`)]),
    );
  if (fields.length > 0) return value;
  throw lost(path, value.constructor?.name ?? 'object');
}

const MENDS: Readonly<Record<string, string>> = {
  function: 'call it',
  bigint: 'String(…) makes it a text',
  Map: 'Object.fromEntries(…) makes it an object',
  Set: '[...set] makes it a list',
  Promise: 'await it',
  Selection: 'take its text, or an attribute',
};

function lost(path: string, kind: string): CrawlerFault {
  const mend = MENDS[kind];
  return new CrawlerFault(`${path} (${kind}) has no form in JSON${mend === undefined ? '' : `: ${mend}`}`, 'schema');
}

function isSimple(value: unknown): boolean {
  return value === null || (typeof value !== 'object' && !isLost(value));
}

function isLost(value: unknown): boolean {
  return typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint';
}
