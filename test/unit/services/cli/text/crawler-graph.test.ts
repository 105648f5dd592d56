import { expect, test } from 'vitest';
import { graphJson, graphLines } from '../../../../../services/cli/text/crawler-graph.ts';
import { defineCrawler } from '../../../../../shared/crawler/crawler.ts';

const shop = defineCrawler({
  name: 'shop',
  patterns: { product: ['/product/*', '/p/*'] },
  steps: {
    start: { to: ['product', 'start'], run() {} },
    product: { to: ['end'], run() {} },
    end: { when: { exists: 'sku', equals: { kind: 'b' } }, run() {} },
  },
});

test('a graph is drawn with its conditions and patterns', () => {
  expect(graphLines(shop, 'mermaid')).toEqual([
    'flowchart TD',
    '  seeds([seeds])',
    '  s0["start"]',
    '  s1["product"]',
    '  s2["end"]',
    '  seeds --> s0',
    '  seeds -->|"/product/* or /p/*"| s1',
    '  s0 --> s1',
    '  s0 --> s0',
    '  s1 -->|"sku exists and kind = #quot;b#quot;"| s2',
  ]);
  expect(graphLines(shop, 'dot')).toEqual([
    'digraph "shop" {',
    '  "its seeds" [label="seeds", shape=oval];',
    '  "start" [shape=box];',
    '  "product" [shape=box];',
    '  "end" [shape=box];',
    '  "its seeds" -> "start";',
    '  "its seeds" -> "product" [label="/product/* or /p/*"];',
    '  "start" -> "product";',
    '  "start" -> "start";',
    '  "product" -> "end" [label="sku exists and kind = \\"b\\""];',
    '}',
  ]);
  expect(graphJson(shop)).toMatchObject({ steps: ['start', 'product', 'end'], edges: { length: 5 } });
});

test('a crawler of one function is one step', () => {
  const short = defineCrawler({ name: 'short', step: () => ({}) });
  expect(graphLines(short, 'mermaid')).toEqual(['flowchart TD', '  seeds([seeds])', '  s0["step"]', '  seeds --> s0']);
});
