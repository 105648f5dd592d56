import { describe, expect, test } from 'vitest';
import { columnsOfItems, readColumns } from '../../../../../shared/control/table/columns.ts';
import { readCondition } from '../../../../../shared/control/table/condition.ts';
import { readPath, valueAt } from '../../../../../shared/control/table/field-path.ts';
import { type TableQuery, TableReader, type TableRecord } from '../../../../../shared/control/table/table-query.ts';
import { doneRecord, failedRecord } from '../../../../support/builders.ts';

function done(data: unknown): TableRecord {
  return { ...doneRecord('http://a.test/', { data }) };
}

function read(records: readonly TableRecord[], query: Partial<TableQuery> = {}) {
  const reader = new TableReader({ where: [], ...query });
  const rows = records.flatMap((record) => [...reader.rows(record)]);
  const headers = reader.columns.map(({ header }) => header);
  const cells = rows.map((row) => reader.columns.map(({ path }) => valueAt(row, path)));
  return { reader, rows, headers, cells, json: rows.map((row) => reader.jsonOf(row)) };
}

const each = (text: string) => ({ each: readPath(text, '--each') });
const where = (...texts: string[]) => ({ where: texts.map(readCondition) });

describe('rows', () => {
  // biome-ignore format: a table
  test.each([
    ['.',     [1, 'b', null],               [1, 'b', null]],
    ['.',     [],                           []],
    ['.',     { a: 1 },                     [{ a: 1 }]],
    ['.',     null,                         [null]],
    ['.',     'text',                       ['text']],
    ['a.b',   { a: { b: [[1], [2]] } },     [[1], [2]]],
    ['a',     { a: 7 },                     [7]],
    ['a',     { b: [1, 2] },                [undefined]],
    ['url',   {},                           ['http://a.test/']],
    ['a[1]',  { a: [[1], [2, 3]] },         [2, 3]],
  ])('--each %s of %j has the items %j', (text, data, items) => {
    expect(read([done(data)], each(text)).rows.map(({ item }) => item)).toEqual(items);
  });

  test('conditions are checked of what was unfolded', () => {
    const record = done({ kind: 'shop', products: [{ kind: 'pen', price: 2 }, { kind: 'ink' }, { price: 3 }] });
    const found = read([record], { ...each('products'), ...where('kind=pen,shop', 'price!=') });
    expect(found.rows.map(({ item }) => item)).toEqual([{ kind: 'pen', price: 2 }, { price: 3 }]);
  });

  test('are of one outcome, or of all', () => {
    const records = [done({}), { ...failedRecord('http://a.test/2') }];
    const of = (query: Partial<TableQuery>) => read(records, query).rows.map(({ record }) => record.outcome);
    expect([of({ outcome: 'done' }), of({ outcome: 'failed' }), of({ outcome: 'skipped' }), of({})]).toEqual([
      ['done'],
      ['failed'],
      [],
      ['done', 'failed'],
    ]);
  });
});

describe('records of steps', () => {
  const found = (step: string, ...items: unknown[]): TableRecord => ({
    ...done(items.length > 1 ? items : (items[0] ?? null)),
    step,
    items: items.length,
  });
  const items = (records: readonly TableRecord[], query: Partial<TableQuery> = {}) =>
    read(records, query).rows.map(({ item }) => item);
  const records = [found('list'), found('product', { n: 1 }), found('reviews', { n: 2 }, { n: 3 })];

  test('have a row each, but where nothing was found', () => {
    expect(items(records)).toEqual([{ n: 1 }, [{ n: 2 }, { n: 3 }]]);
    expect(items(records, { hasEmpty: true })).toEqual([null, { n: 1 }, [{ n: 2 }, { n: 3 }]]);
    expect(items([done(null)])).toEqual([null]);
  });

  test('have a row for each item if the query says so, with the record around it', () => {
    const table = { isRowPerItem: true };
    expect(items(records, table)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(items(records, { ...table, hasEmpty: true })).toEqual([null, { n: 1 }, { n: 2 }, { n: 3 }]);
    expect(items(records, { ...table, ...where('n=3,1') })).toEqual([{ n: 1 }, { n: 3 }]);
    expect(items([done([1, 2])], table)).toEqual([[1, 2]]);
    const { json, reader } = read(records, { ...table, columns: readColumns('n,url') });
    expect(json).toEqual([1, 2, 3].map((n) => ({ n, url: 'http://a.test/' })));
    expect([reader.hasItemRows, read(records).reader.hasItemRows]).toEqual([true, false]);
  });

  test.each(['@url', 'url'])('have one row by %s, a field of the record, however many items they have', (path) => {
    expect(items(records, { isRowPerItem: true, ...each(path) })).toEqual(['http://a.test/', 'http://a.test/']);
  });

  test('are of one step, if one is named', () => {
    expect(items(records, { step: 'product' })).toEqual([{ n: 1 }]);
    expect(items(records, { step: 'list' })).toEqual([]);
  });

  test('have a row for each item by --each ., and lists within items are unfolded with their item around them', () => {
    expect(items(records, each('.'))).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    const { rows } = read([found('a', { k: 1, of: [1, 2] }, { k: 2, of: [3] })], each('of'));
    expect(rows.map(({ item, data }) => [item, data])).toEqual([
      [1, { k: 1, of: [1, 2] }],
      [2, { k: 1, of: [1, 2] }],
      [3, { k: 2, of: [3] }],
    ]);
  });

  test('say which steps there are, and which have rows', () => {
    const stepsOf = (query: Partial<TableQuery>) =>
      Array.from(read(records, query).reader.steps, ([name, { hasRows }]) => [name, hasRows]);
    expect(stepsOf({})).toEqual([
      ['list', false],
      ['product', true],
      ['reviews', true],
    ]);
    expect(stepsOf({ step: 'product', ...each('.') })).toEqual([
      ['list', false],
      ['product', true],
      ['reviews', false],
    ]);
    expect(read([done({})]).reader.steps.size).toBe(0);
  });

  test('have a column for the step if they are of several', () => {
    expect(read(records).headers.slice(5, 8)).toEqual(['title', 'step', 'n']);
    expect(read(records, { step: 'product' }).headers.slice(5, 7)).toEqual(['title', 'n']);
  });

  test('of known columns have those of the item alone', () => {
    const reader = new TableReader({ where: [] });
    reader.know(columnsOfItems(['title', 'n']));
    const [row] = reader.rows(found('product', { n: 1, extra: 2 }));
    expect(reader.columns.map(({ header, path }) => [header, row && valueAt(row, path)])).toEqual([
      ['title', undefined],
      ['n', 1],
    ]);
    expect(reader.columnsLeftOut).toBe(0);
  });

  test('have behind the known columns what their items have besides', () => {
    const reader = new TableReader({ where: [], ...each('.') });
    const records = [
      found('product', { n: 1, cents: 100 }, { n: 2, cents: 200, by: 'us' }),
      found('product', { n: 3 }),
      found('product'),
    ];
    for (const record of records) for (const _ of reader.rows(record));
    reader.know(columnsOfItems(['name', 'n']));
    expect(reader.columns).toEqual(columnsOfItems(['name', 'n', 'cents', 'by']));
    expect(reader.columnsLeftOut).toBe(0);
  });
});

describe('columns', () => {
  const FIRST = ['url', 'finalUrl', 'outcome', 'reason', 'status', 'title'];
  const LAST = [
    'contentType',
    'bytes',
    'fetchedAt',
    'durationMs',
    'attempt',
    'depth',
    'fromCache',
    'contentHash',
    'task',
  ];

  test('are all that the data have, between those of the record; links only when named', () => {
    const { headers } = read([done({ name: 'Pen', links: [] }), done({ price: 2, name: null })]);
    expect(headers).toEqual([...FIRST, 'name', 'price', ...LAST]);
  });

  test('of failures have error and attempt', () => {
    const { headers } = read([{ ...failedRecord('http://a.test/', { status: 404, error: 'HTTP 404' }) }]);
    expect(headers).toEqual([...FIRST, 'error', 'fetchedAt', 'attempt', 'depth', 'task']);
  });

  test('a field of the data stands for the one of the record that has its name', () => {
    const { headers, cells } = read([done({ title: 'Pen', bytes: 7 }), done({})]);
    expect(headers).toEqual([...FIRST, 'bytes', ...LAST.filter((name) => name !== 'bytes')]);
    expect(cells.map((row) => [row[headers.indexOf('title')], row[headers.indexOf('bytes')]])).toEqual([
      ['Pen', 7],
      ['A page', 10],
    ]);
  });

  test('of an unfolded list are those of its items, then of the data around it, without the list', () => {
    const record = done({ shop: 'Bonn', products: [{ name: 'Pen', links: [1] }, 'ink', null] });
    const { headers, cells } = read([record], each('products'));
    expect(headers).toEqual([...FIRST, 'shop', 'name', 'products', ...LAST]);
    expect(cells.map((row) => row.slice(6, 9))).toEqual([
      ['Bonn', 'Pen', { name: 'Pen', links: [1] }],
      ['Bonn', undefined, 'ink'],
      ['Bonn', undefined, null],
    ]);
  });

  test('of main content are what pages say of their articles, and not those of data that are called so', () => {
    const article = { published: '2026-11-21', byline: 'Ann' };
    const extra = { contentOf: 'article', article, content: '# Tea' } as const;
    const { headers, cells } = read([
      { ...doneRecord('http://a.test/', { ...extra, data: { article: 1 } }) },
      { ...doneRecord('http://a.test/1', { contentOf: 'page', content: 'Home' }) },
    ]);
    const own = ['article', 'article.byline', 'article.published'];
    expect(headers).toEqual([...FIRST, ...own, ...LAST, 'contentOf', 'content']);
    const shown = cells.map((row) => [...row.slice(FIRST.length, FIRST.length + 3), ...row.slice(-2)]);
    expect(shown).toEqual([
      [1, 'Ann', '2026-11-21', 'article', '# Tea'],
      [undefined, undefined, undefined, 'page', 'Home'],
    ]);
  });

  test('data without names are one column', () => {
    expect(read([done(['a'])]).headers).toEqual([...FIRST, 'data', ...LAST]);
    expect(read([done(['a'])], each('.')).headers).toEqual([...FIRST, 'data', ...LAST]);
    expect(read([done({ links: ['a'] })], each('links')).headers).toEqual([...FIRST, 'links', ...LAST]);
  });

  test('are 200 at most, and the others are counted', () => {
    const wide = (from: number, to: number) =>
      done(Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`f${from + n}`, n])));
    const { reader, headers } = read([wide(0, 150), wide(100, 400), wide(0, 400)]);
    expect([headers.length, headers.slice(0, 7)]).toEqual([200, [...FIRST, 'f0']]);
    expect(reader.columnsLeftOut).toBe(FIRST.length + 400 + LAST.length - 200);
  });

  test('that were named are all there is, in their order', () => {
    const columns = readColumns('Price=offers[0].price, @status,name');
    const { headers, json } = read([done({ name: 'Pen', offers: [{ price: 2 }] }), done({})], { columns });
    expect(headers).toEqual(['Price', '@status', 'name']);
    expect(json).toEqual([
      { Price: 2, '@status': 200, name: 'Pen' },
      { Price: null, '@status': 200, name: null },
    ]);
  });

  // biome-ignore format: a table
  test.each([
    ['',           'got ""'],
    ['a,,b',       'got "" in "a,,b"'],
    ['=a',         'got "=a"'],
    ['a=',         'got "a="'],
    ['a=b=c',      'got "a=b=c"'],
    ['a,b=a,b',    'got "b" twice: write OTHER=b'],
  ])('%j are no columns: %s', (text, said) => {
    expect(() => readColumns(text)).toThrow(said);
  });
});

describe('a row in JSON', () => {
  test('is the whole record', () => {
    const record = done({ links: ['a'] });
    expect(read([record]).json).toEqual([record]);
  });

  test('of an unfolded list has what a row of CSV has, as far as it is there', () => {
    const [row] = read([done([{ name: 'Pen', title: 'Blue' }])], each('.')).json;
    expect(row).toMatchObject({ url: 'http://a.test/', status: 200, name: 'Pen', title: 'Blue' });
    expect(Object.keys(JSON.parse(JSON.stringify(row)))).not.toContain('reason');
  });
});

describe('null in a row in JSON', () => {
  test('is a value, also of an unfolded list', () => {
    const [row] = read([done([{ stock: null, price: 2 }, { price: null }])], each('.')).json;
    expect(row).toMatchObject({ stock: null, price: 2 });
  });
});

describe('fields that are nowhere', () => {
  const missingIn = (records: readonly TableRecord[], query: Partial<TableQuery>) => {
    const { reader } = read(records, query);
    return [reader.missing.map(({ flag, text }) => `${flag} ${text}`), reader.names];
  };

  test('are named, with the names there are', () => {
    const records = [done({ name: 'Pen' }), done({ price: 2 })];
    const query = { columns: readColumns('name,prise'), ...where('kind=', 'url!='), ...each('product') };
    expect(missingIn(records, query)).toEqual([
      ['--each product', '--fields prise', '--where kind'],
      ['name', 'price'],
    ]);
  });

  test('are none that a record has only where something happened', () => {
    const query = { columns: readColumns('url,reason,redirects[0],error'), ...where('unchanged!=true', '@truncated=') };
    expect(missingIn([done({})], query)[0]).toEqual([]);
  });

  test('are those that no record has; null is a value', () => {
    expect(missingIn([done({}), done({ name: null })], { columns: readColumns('name') })[0]).toEqual([]);
    expect(missingIn([done({ list: [] })], { ...each('list'), columns: readColumns('name') })[0]).toEqual([]);
    expect(missingIn([], { ...each('list'), columns: readColumns('name') })[0]).toEqual([]);
  });
});
