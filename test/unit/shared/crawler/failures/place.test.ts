import { join } from 'node:path';
import { expect, test } from 'vitest';
import { placesIn } from '../../../../../shared/crawler/failures/place.ts';

const ROOT = join(import.meta.dirname, '../../../../..');

// biome-ignore format: a table
test.each<[string, string[], string | undefined, string | undefined]>([
  ['in a step',                           [`at step (file://${ROOT}/crawlers/a.ts:7:11)`],                                        'crawlers/a.ts:7',     'crawlers/a.ts:7'],
  ['after an await',                      [`at async step (file://${ROOT}/crawlers/a.ts:7:11)`],                                  'crawlers/a.ts:7',     'crawlers/a.ts:7'],
  ['in a function without a name',        [`at file://${ROOT}/crawlers/a.ts:7:11`],                                               'crawlers/a.ts:7',     'crawlers/a.ts:7'],
  ['in a method',                         [`at Object.get [as links] (file://${ROOT}/crawlers/a.ts:7:11)`],                       'crawlers/a.ts:7',     'crawlers/a.ts:7'],
  ['in CommonJS',                         ['at step (/home/me/a (2).cjs:7:11)'],                                                  '/home/me/a (2).cjs:7', '/home/me/a (2).cjs:7'],
  ['in a file with odd characters',       ['at step (file:///home/me/a%20b:c%25.ts:7:11)'],                                       '/home/me/a b:c%.ts:7', '/home/me/a b:c%.ts:7'],
  ['in a package that a crawler calls',   [`at p (file://${ROOT}/node_modules/p/p.js:1:1)`, `at step (file://${ROOT}/crawlers/a.ts:7:11)`], 'crawlers/a.ts:7', 'node_modules/p/p.js:1'],
  ["in a package of the crawler's own",   ['at p (file:///x/node_modules/p/p.js:1:1)', 'at step (file:///x/a.ts:7:11)'],          '/x/a.ts:7',           '/x/node_modules/p/p.js:1'],
  ['in a page tool that a crawler calls', ['at get links (node:x:1:1)', `at Page.read (file://${ROOT}/shared/crawler/page.ts:90:1)`, `at step (file://${ROOT}/crawlers/a.ts:7:11)`], 'crawlers/a.ts:7', 'shared/crawler/page.ts:90'],
  ['in a crawler folder named like one of ours', ['at step (file:///x/services/a.ts:7:11)'],                                      '/x/services/a.ts:7',  '/x/services/a.ts:7'],
  ['in evaluated code',                   [`at eval (eval at step (file://${ROOT}/crawlers/a.ts:6:3), <anonymous>:1:1)`, `at step (file://${ROOT}/crawlers/a.ts:7:11)`], 'crawlers/a.ts:7', 'crawlers/a.ts:7'],
  ['none, as no frame is in a file',      ['at new Promise (<anonymous>)', 'at process.processTimers (node:internal/timers:618:7)'], undefined,           undefined],
  ['none, as it is no stack',             ['at', 'at (', 'at file://%:1:1', 'x', ''],                                              undefined,             undefined],
])('the line of an error is found in its stack: %s', (_, lines, crawler, any) => {
  expect(placesIn(['Error: at step (file:///no/where.ts:1:1)', ...lines].join('\n    '))).toMatchObject({ crawler, any });
});
