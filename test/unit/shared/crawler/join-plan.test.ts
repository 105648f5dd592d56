import { expect, test } from 'vitest';
import { defineCrawler } from '../../../../shared/crawler/crawler.ts';
import type { JoinPlan } from '../../../../shared/task/group/plan.ts';

const run = (): void => {};

/** Defines a crawler with these steps and joins: its join plan, or the problems it is refused with. */
function defined(steps: Readonly<Record<string, object>>, joins: object, patterns: object = {}): JoinPlan | string[] {
  const all = Object.fromEntries(Object.entries(steps).map(([name, step]) => [name, { run, ...step }]));
  const made = Object.fromEntries(Object.entries(joins).map(([name, join]) => [name, { run, ...join }]));
  try {
    const crawler = defineCrawler({ name: 'a', steps: all, joins: made, patterns } as never);
    return crawler.joinPlan as JoinPlan;
  } catch (error: unknown) {
    return String((error as Error).message).split('\n');
  }
}

const SHOP = { list: { to: ['product'] }, product: { to: ['price', 'reviews'] }, price: {}, reviews: {} };
const OFFER = { offer: { per: 'product', of: ['price', 'reviews'] } };

// biome-ignore format: a table
test.each<[string, object, object, readonly string[]]>([
  ['a function is missing', SHOP, { offer: { per: 'product', of: ['price'], run: 1 } }, ['join offer: expected run to be a function']],
  ['its inputs are no list', SHOP, { offer: { per: 'product', of: 'price' } }, ['join offer: expected of to be a list of steps and joins']],
  ['it has no inputs', SHOP, { offer: { of: [] } }, ['join offer takes nothing: name steps or joins in its `of`']],
  ['a name is unknown', SHOP, { offer: { per: 'prodct', of: ['prize'] } }, [
    'join offer is per prodct, which does not exist: did you mean product?',
    'join offer takes prize, which does not exist: did you mean price?',
  ]],
  ['it takes files', SHOP, { offer: { per: 'product', of: ['download'] } }, [
    'join offer takes download, but joins take no files: emit page.resolve(link), which is the url of the file, and take the step that emits it',
  ]],
  ['its name is taken', SHOP, { price: { of: ['list'] } }, ['join price has the name of a step: choose another']],
  ['it takes a step above its owner', SHOP, { offer: { per: 'product', of: ['list'] } }, [
    'join offer is per product, and takes step list, which is not below product: it would never get one of its pages',
  ]],
  ['it takes a step that is apart', { ...SHOP, price: { apart: true } }, OFFER, [
    'join offer is per product, and takes step price, which is apart: it would never get one of its pages',
  ]],
  ['groups nest', SHOP, { offer: { per: 'product', of: ['price'] }, all: { per: 'list', of: ['product'] } }, [
    'step product has joins of its own, and is below list, which has joins: groups don\'t nest. Set apart: true in step product to keep it out of other groups',
  ]],
  ['it takes a join of another owner', { start: { to: ['x', 'y'] }, x: {}, y: {} },
    { a: { per: 'x', of: ['x'] }, b: { per: 'y', of: ['a'] } }, ['join b is per y, and takes join a, which is not']],
  ['it is part of a circle', SHOP, { a: { per: 'product', of: ['b'] }, b: { per: 'product', of: ['a'] } }, ['joins take each other in a circle: a, b, a']],
])('a join is refused when %s', (_, steps, joins, problems) => {
  expect(defined(steps as never, joins)).toEqual(problems.map((each) => `crawler a: ${each}`));
});

// biome-ignore format: a table
test.each<[string, object, object, readonly string[]]>([
  ['every step it leads to', SHOP, {}, ['price', 'reviews']],
  ['also steps that those lead to', { ...SHOP, price: { to: ['tax'] }, tax: {} }, {}, ['price', 'reviews', 'tax']],
  ['neither itself nor a step above it', { ...SHOP, product: { to: ['price', 'reviews', 'product', 'list'] } }, {}, ['price', 'reviews']],
  ['no step that a seed can start at', SHOP, { reviews: '/reviews/*' }, ['price']],
  ['neither a step that is apart nor one that only that leads to', { ...SHOP, product: { to: ['price', 'reviews', 'seller'] }, seller: { apart: true, to: ['rating'] }, rating: {} }, {}, ['price', 'reviews']],
  ['no step that another branch leads to', { list: { to: ['product', 'news'] }, product: { to: ['price', 'reviews', 'tag'] }, news: { to: ['tag'] }, tag: {}, price: {}, reviews: {} }, {}, ['price', 'reviews']],
  ['also steps that its fallback leads to', { ...SHOP, product: { to: ['price'], fallback: 'other' }, other: { to: ['reviews'] } }, {}, ['price', 'reviews']],
])('an owner has below it: %s', (_, steps, patterns, below) => {
  const of = below.slice(0, 1);
  const plan = defined(steps as never, { offer: { per: 'product', of } }, patterns) as JoinPlan;
  expect(Object.keys(plan.owners).toSorted()).toEqual(below);
  expect(new Set(Object.values(plan.owners))).toEqual(new Set(['product']));
});

test('a join plan holds the layers of joins and the steps each group takes', () => {
  const OFFERS = { offer: { per: 'product', of: ['product', 'price', 'reviews'] }, report: { of: ['offer'] } };
  expect(defined(SHOP, OFFERS)).toEqual({
    joins: OFFERS,
    groups: { product: { layers: [['offer']], takes: ['product', 'price', 'reviews'] } },
    owners: { price: 'product', reviews: 'product' },
    run: [['report']],
  });
  const deep = defined(SHOP, {
    c: { per: 'product', of: ['b', 'a'] },
    b: { per: 'product', of: ['a', 'price'], deadlineMs: 5_000 },
    a: { per: 'product', of: ['reviews'] },
    z: { of: ['y'] },
    y: { of: ['list'] },
  }) as JoinPlan;
  expect(deep.groups).toEqual({ product: { layers: [['a'], ['b'], ['c']], takes: ['price', 'reviews'] } });
  expect(deep.run).toEqual([['y'], ['z']]);
  expect(deep.joins.b).toEqual({ per: 'product', of: ['a', 'price'], deadlineMs: 5_000 });
  expect(deep.joins.y).toEqual({ of: [''] });
  expect(defineCrawler({ name: 'b', steps: { start: { run } } }).joinPlan).toBeUndefined();
});
