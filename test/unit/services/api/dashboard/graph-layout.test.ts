import { expect, test } from 'vitest';
import { layoutOf, pathOfArrow, SEEDS } from '../../../../../services/api/dashboard/src/parts/graph-layout.ts';

const SHOP = {
  steps: ['list', 'product', 'review', 'stray'],
  edges: [
    { to: 'list' },
    { to: 'product', label: '/p/*' },
    { from: 'list', to: 'list' },
    { from: 'list', to: 'product' },
    { from: 'product', to: 'review' },
    { from: 'review', to: 'list' },
  ],
};

test('steps are in columns by their distance from the seeds', () => {
  const { nodes } = layoutOf(SHOP);
  const columns = new Map<number, string[]>();
  for (const { name, x } of nodes) columns.set(x, [...(columns.get(x) ?? []), name]);
  expect([...columns.values()]).toEqual([[SEEDS], ['list', 'product', 'stray'], ['review']]);
});

test('no two steps share a place, and all are within the picture', () => {
  const { nodes, width, height } = layoutOf(SHOP);
  expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(nodes.length);
  expect(nodes.every(({ x, y }) => x < width && y < height)).toBe(true);
});

test('every edge has its arrow, including those that lead back', () => {
  const { arrows, nodeWidth } = layoutOf(SHOP);
  expect(arrows).toHaveLength(SHOP.edges.length);
  expect(new Set(arrows.map((arrow) => pathOfArrow(arrow, nodeWidth))).size).toBe(SHOP.edges.length);
});

test('steps are as wide as the longest of their texts, with the usual gaps', () => {
  const gapOf = ({ nodes, nodeWidth }: ReturnType<typeof layoutOf>): number => {
    const [first = 0, second = 0] = [...new Set(nodes.map(({ x }) => x))].sort((a, b) => a - b);
    return second - first - nodeWidth;
  };
  const [usual, wide] = [
    layoutOf(SHOP, ['1 / 2']),
    layoutOf(SHOP, ['1 / 2', '12 345 678 / 12 345 678 · 345 678 failed']),
  ];
  expect(wide.nodeWidth).toBeGreaterThan(usual.nodeWidth);
  expect(gapOf(wide)).toBe(gapOf(usual));
});
