import type { Graph } from '../api/answers.ts';

/** A step of a crawler, or its seeds, at its place. */
interface Placed {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

export interface Arrow {
  readonly from: Placed;
  readonly to: Placed;
  readonly label: string | undefined;
}

export interface Layout {
  readonly nodes: readonly Placed[];
  readonly arrows: readonly Arrow[];
  readonly width: number;
  readonly height: number;
  /** Of each step. */
  readonly nodeWidth: number;
}

/** Where the seeds stand. No step has this name: a step's is a word of letters. */
export const SEEDS = '(seeds)';
/** Of a step, at least. */
const NODE_WIDTH = 150;
export const NODE_HEIGHT = 44;
const GAP_X = 90;
const GAP_Y = 24;
const MARGIN = 12;
/** Of 12 px, in the widest fonts: most of what stands in a step are digits. */
const CHARACTER_WIDTH = 8;
const PADDING = 8;

/**
 * Steps in columns, by how many links they are from the seeds; those that nothing leads to stand in the first. Of steps in a
 * column, the one named first is on top. Arrows that lead back are kept: a step may lead to itself. All steps are
 * as wide as the longest of `texts` needs.
 */
export function layoutOf({ steps, edges }: Pick<Graph, 'steps' | 'edges'>, texts: readonly string[] = []): Layout {
  const longest = Math.max(0, ...texts.map(({ length }) => length));
  const nodeWidth = Math.max(NODE_WIDTH, longest * CHARACTER_WIDTH + 2 * PADDING);
  const columnOf = new Map<string, number>([[SEEDS, 0]]);
  for (let column = 0, found = true; found; column++) {
    found = false;
    for (const { from = SEEDS, to } of edges) {
      if (columnOf.get(from) !== column || columnOf.has(to)) continue;
      columnOf.set(to, column + 1);
      found = true;
    }
  }
  const rows = new Map<number, number>();
  const nodes = [SEEDS, ...steps].map((name): Placed => {
    const column = columnOf.get(name) ?? 1;
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    return { name, x: MARGIN + column * (nodeWidth + GAP_X), y: MARGIN + row * (NODE_HEIGHT + GAP_Y) };
  });
  const placed = new Map(nodes.map((node) => [node.name, node]));
  const arrows = edges.flatMap(({ from = SEEDS, to, label }): Arrow[] => {
    const [start, end] = [placed.get(from), placed.get(to)];
    return start === undefined || end === undefined ? [] : [{ from: start, to: end, label }];
  });
  return {
    nodes,
    arrows,
    width: Math.max(...nodes.map(({ x }) => x)) + nodeWidth + MARGIN,
    height: Math.max(...nodes.map(({ y }) => y)) + NODE_HEIGHT + MARGIN + (arrows.some(leadsBack) ? GAP_Y : 0),
    nodeWidth,
  };
}

/** Does it go below its steps: to an earlier column, in its own, or to itself? */
function leadsBack({ from, to }: Arrow): boolean {
  return to.x <= from.x;
}

/** The line of an arrow, as the `d` of an SVG path. */
export function pathOfArrow(arrow: Arrow, nodeWidth: number): string {
  const { from, to } = arrow;
  const half = NODE_HEIGHT / 2;
  if (!leadsBack(arrow)) {
    const [x1, y1, x2, y2] = [from.x + nodeWidth, from.y + half, to.x, to.y + half];
    const middle = (x1 + x2) / 2;
    return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
  }
  const [x1, x2] = [from.x + nodeWidth * 0.7, to.x + nodeWidth * 0.3];
  const [y1, y2] = [from.y + NODE_HEIGHT, to.y + NODE_HEIGHT];
  const deep = Math.max(y1, y2) + GAP_Y;
  return `M${x1} ${y1}C${x1} ${deep} ${x2} ${deep} ${x2} ${y2}`;
}
