import type { Graph } from '../api/answers.ts';

/** A step of a crawler, or its seeds, with its position. */
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
  /** Width of every step. */
  readonly nodeWidth: number;
}

/** Name of the node for the seeds. No step has it, as names of steps have no parentheses. */
export const SEEDS = '(seeds)';
/** Minimum width of a step. */
const NODE_WIDTH = 150;
export const NODE_HEIGHT = 44;
const GAP_X = 90;
const GAP_Y = 24;
const MARGIN = 12;
/** Width of a 12 px character in the widest fonts. Most characters in a step are digits. */
const CHARACTER_WIDTH = 8;
const PADDING = 8;

/**
 * Places steps in columns by their distance in links from the seeds. Steps that nothing leads to are in the first column. Within a column,
 * steps keep the order of `steps`, the first on top. Arrows that lead back are kept, as a step can lead to itself. All steps are as wide as
 * the longest of `texts` needs.
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

/** Tells whether an arrow leads to an earlier column, within its own or to its own step. It is drawn below the steps. */
function leadsBack({ from, to }: Arrow): boolean {
  return to.x <= from.x;
}

/** Returns the line of an arrow as the `d` of an SVG path. */
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
