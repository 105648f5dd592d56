import { expect, test } from 'vitest';
import { defineCrawler } from '../../../../shared/crawler/crawler.ts';
import { graphJson, graphLines } from '../../../../shared/crawler/crawler-graph.ts';

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

test('a fallback is drawn as a dashed edge of its own', () => {
  const careful = defineCrawler({
    name: 'careful',
    steps: { start: { to: ['start'], fallback: 'gone', run() {} }, gone: { run() {} } },
  });
  expect(graphLines(careful, 'mermaid').slice(5)).toEqual(['  s0 --> s0', '  s0 -.->|"fallback"| s1']);
  expect(graphLines(careful, 'dot').slice(-2, -1)).toEqual(['  "start" -> "gone" [label="fallback", style=dashed];']);
  expect(graphJson(careful)).toMatchObject({
    edges: [{ to: 'start' }, { from: 'start', to: 'start' }, { from: 'start', to: 'gone', isFallback: true }],
  });
});

test('the step that stores files is drawn if URLs start there', () => {
  const files = defineCrawler({ name: 'files', patterns: { download: '*.pdf' }, steps: { start: { run() {} } } });
  expect(graphLines(files, 'mermaid').slice(2)).toEqual([
    '  s0["start"]',
    '  s1["download"]',
    '  seeds --> s0',
    '  seeds -->|"*.pdf"| s1',
  ]);
  expect(graphJson(files)).toMatchObject({ steps: ['start', 'download'] });
});

test('a crawler of one function is drawn as a single step', () => {
  const short = defineCrawler({ name: 'short', step: () => ({}) });
  expect(graphLines(short, 'mermaid')).toEqual(['flowchart TD', '  seeds([seeds])', '  s0["step"]', '  seeds --> s0']);
});
