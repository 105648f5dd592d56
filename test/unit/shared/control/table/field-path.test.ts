import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePath, readPath, valueAt } from '../../../../../shared/control/table/field-path.ts';

const ROW = {
  item: { name: 'Pen', offers: [{ price: 2 }, { price: 3 }], empty: null },
  data: {
    name: 'Shop',
    shop: { city: 'Bonn', '@id': 7 },
    links: ['http://a.test/'],
    '@type': 'Store',
    toString: 'own',
  },
  record: { name: 'record', url: 'http://a.test/1', status: 200, title: 'A page' },
};

/** What a path leads to. */
function at(text: string, row: Parameters<typeof valueAt>[0] = ROW): unknown {
  const { path } = readPath(text, '--each');
  return valueAt(row, path);
}

// biome-ignore format: a table
test.each([
  ['.', ROW.item],
  ['name', 'Pen'],
  ['offers[1].price', 3],
  ['offers[2].price', undefined],
  ['offers.price', undefined],
  ['offers.length', undefined],
  ['shop.city', 'Bonn'],
  ['shop.@id', 7],
  ['shop[0]', undefined],
  ['links[0]', 'http://a.test/'],
  ['status', 200],
  ['@status', 200],
  ['@name', 'record'],
  ['@links', undefined],
  ['empty', null],
  ['empty.more', undefined],
  ['title', 'A page'],
  ['nothing', undefined],
  ['constructor', undefined],
  ['toString', 'own'],
])('the path %j leads to %j: in the item, else in the data, else in the record', (text, value) => {
  expect(at(text)).toEqual(value);
});

test('names are found in whatever the item is', () => {
  for (const item of [undefined, null, 7, 'text', ['a'], []]) {
    expect([at('.', { ...ROW, item }), at('name', { ...ROW, item }), at('length', { ...ROW, item })]).toEqual([
      item,
      'Shop',
      undefined,
    ]);
  }
});

test.each(['', 'a..b', '.a', 'a.', '[0]', 'a[', 'a[]', 'a[-1]', 'a[x]', '@', '@a.', '@@a', 'a=b', 'a,b', 'a!', '..'])(
  '%j is no path, and the message names the flag and the text',
  (text) => {
    expect(parsePath(text)).toBeUndefined();
    expect(() => readPath(text, '--each')).toThrow(
      `expected --each to be a path like name, offers[0].price, @status or ., got "${text}"`,
    );
  },
);

test('every path leads to what its names say', () => {
  const name = fc.stringMatching(/^[a-zß-ü_$][\w -]*[a-z]$/);
  const step = fc.oneof(name, fc.nat({ max: 5 }));
  fc.assert(
    fc.property(name, fc.array(step), (first, rest) => {
      const text = first + rest.map((each) => (typeof each === 'number' ? `[${each}]` : `.${each}`)).join('');
      const data = [first, ...rest].reduceRight<unknown>(
        (value, each) => (typeof each === 'number' ? Array(each).fill(0).concat([value]) : { [each]: value }),
        'here',
      );
      // `concat` would spread a list.
      fc.pre(!rest.some((each, index) => typeof each === 'number' && typeof rest[index + 1] === 'number'));
      expect(at(text, { item: data, data, record: {} })).toBe('here');
    }),
  );
});
