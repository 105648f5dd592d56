import { count } from '../../../../../shared/control/format.ts';
import type { Graph, Run, StepCounts } from '../api/answers.ts';
import { layoutOf, NODE_HEIGHT, pathOfArrow, SEEDS } from './graph-layout.ts';
import { Table } from './table.tsx';

interface StepRow extends StepCounts {
  readonly name: string;
}

const LONGEST_NAME = 20;

/** A run's steps with their counts, as a picture and, for users who can't see it, as a table. */
export function StepGraph({ graph, run }: { readonly graph: Graph; readonly run: Run }) {
  const rows = graph.steps.map((name): StepRow => ({ name, ...countsOf(name, graph, run) }));
  const texts = rows.flatMap((row) => [shortened(row.name), `${doneText(row)}${failedText(row)}`]);
  const { nodes, arrows, width, height, nodeWidth } = layoutOf(graph, texts);
  const countsByName = new Map(rows.map((row) => [row.name, row]));
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard. */}
      <section class="graph" aria-label={`Graph of crawler ${graph.name}`} tabIndex={0}>
        <svg
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={`Steps of ${graph.name}; the table below has the counts`}
        >
          <defs>
            <marker
              id="arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto-start-reverse"
            >
              <path d="M0 0L8 4L0 8z" />
            </marker>
          </defs>
          {arrows.map((arrow) => (
            <path
              key={`${arrow.from.name} ${arrow.to.name} ${arrow.label}`}
              class="arrow"
              d={pathOfArrow(arrow, nodeWidth)}
              marker-end="url(#arrow)"
            >
              {arrow.label !== undefined && <title>{arrow.label}</title>}
            </path>
          ))}
          {nodes.map(({ name, x, y }) => {
            const counts = countsByName.get(name);
            return (
              <g key={name} transform={`translate(${x} ${y})`}>
                <rect
                  class={name === SEEDS ? 'node seeds' : 'node'}
                  width={nodeWidth}
                  height={NODE_HEIGHT}
                  rx={name === SEEDS ? NODE_HEIGHT / 2 : 4}
                />
                <text class="name" x={nodeWidth / 2} y={counts === undefined ? 27 : 18}>
                  {name === SEEDS ? 'seeds' : shortened(name)}
                </text>
                {counts !== undefined && (
                  <text x={nodeWidth / 2} y={34}>
                    {doneText(counts)}
                    {counts.failed > 0 && <tspan class="failed">{failedText(counts)}</tspan>}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
      </section>
      <Table
        label="Counts of each step"
        rows={rows}
        keyOf={({ name }) => name}
        none="It has no steps."
        columns={[
          { name: 'Step', of: ({ name }) => name, isHead: true },
          { name: 'Discovered', of: (row) => count(row.discovered), isNumber: true },
          { name: 'Done', of: (row) => count(row.done), isNumber: true },
          { name: 'Skipped', of: (row) => count(row.skipped), isNumber: true },
          { name: 'Failed', of: (row) => count(row.failed), isNumber: true },
        ]}
      />
    </>
  );
}

/** Returns the counts of a step. The run counts the tasks of every step except the first, which gets the rest. */
function countsOf(name: string, { steps }: Graph, run: Run): StepCounts {
  const counted = run.steps?.[name];
  if (counted !== undefined) return counted;
  if (name !== steps[0]) return { discovered: 0, done: 0, skipped: 0, failed: 0 };
  const others = Object.values(run.steps ?? {});
  const rest = (field: keyof StepCounts): number => run[field] - others.reduce((sum, each) => sum + each[field], 0);
  return { discovered: rest('discovered'), done: rest('done'), skipped: rest('skipped'), failed: rest('failed') };
}

function doneText({ done, discovered }: StepCounts): string {
  return `${count(done)} / ${count(discovered)}`;
}

function failedText({ failed }: StepCounts): string {
  return failed > 0 ? ` · ${count(failed)} failed` : '';
}

function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
}
