import { conditionText } from './condition.ts';
import type { Crawler } from './crawler.ts';
import type { Join } from './joins/joins.ts';

/** What leads to a step: another step's links or failure, or, left out, seeds. */
interface Edge {
  readonly from?: string;
  readonly to: string;
  /** The condition or the pattern under which it does. */
  readonly label?: string;
  /** It takes over when the other one fails. */
  readonly isFallback?: true;
}

/** The forms in which a graph is printed. */
export const GRAPH_FORMATS = ['mermaid', 'dot'] as const;
export type GraphFormat = (typeof GRAPH_FORMATS)[number];

/** The one function of a short crawler has no name of its own. */
const ONLY_STEP = 'step';
const SEEDS = 'seeds';

/** A crawler's steps and what leads where, and what its joins take, as lines of text. */
export function graphLines(crawler: Crawler, format: GraphFormat): string[] {
  return format === 'dot' ? dotLines(crawler) : mermaidLines(crawler);
}

/** The same as data. */
export function graphJson(crawler: Crawler): object {
  const joins = crawler.joins.map(({ name, per, of }) => ({ name, ...(per === undefined ? {} : { per }), of }));
  return { steps: stepNames(crawler), edges: edgesOf(crawler), ...(joins.length === 0 ? {} : { joins }) };
}

function stepNames({ steps }: Crawler): string[] {
  return steps.length === 0 ? [ONLY_STEP] : steps.map(({ name }) => name);
}

function edgesOf(crawler: Crawler): Edge[] {
  const { steps, patterns } = crawler;
  const first = { to: crawler.first?.name ?? ONLY_STEP };
  const seeds = Object.entries(patterns).map(([to, texts]) => ({ to, label: texts.join(' or ') }));
  const links = steps.flatMap(({ name, to }) =>
    to.map((each) => {
      const when = crawler.stepNamed(each)?.when;
      return { from: name, to: each, ...(when === undefined ? {} : { label: conditionText(when) }) };
    }),
  );
  const fallbacks = steps.flatMap(({ name, fallback }) =>
    fallback === undefined ? [] : [{ from: name, to: fallback, label: 'fallback', isFallback: true as const }],
  );
  return [first, ...seeds, ...links, ...fallbacks];
}

/** What a join is made for. */
function joinText({ name, per }: Join): string {
  return per === undefined ? `${name}, of the run` : `${name}, per ${per}`;
}

/** What joins take. */
function takenOf({ joins }: Crawler): { readonly from: string; readonly to: string }[] {
  return joins.flatMap(({ name, of }) => of.map((from) => ({ from, to: name })));
}

/** Its ids are numbers, since words such as `end` mean something in it. */
function mermaidLines(crawler: Crawler): string[] {
  const names = stepNames(crawler);
  const idOf = (name: string | undefined): string => (name === undefined ? SEEDS : `s${names.indexOf(name)}`);
  const joins = crawler.joins.map(({ name }) => name);
  const nodeOf = (name: string): string => (joins.includes(name) ? `j${joins.indexOf(name)}` : idOf(name));
  const textOf = (text: string): string => `"${text.replaceAll('&', '&amp;').replaceAll('"', '#quot;')}"`;
  return [
    'flowchart TD',
    `  ${SEEDS}([${SEEDS}])`,
    ...names.map((name) => `  ${idOf(name)}[${textOf(name)}]`),
    ...edgesOf(crawler).map(({ from, to, label, isFallback }) => {
      const shown = label === undefined ? '' : `|${textOf(label)}|`;
      return `  ${idOf(from)} ${isFallback ? '-.->' : '-->'}${shown} ${idOf(to)}`;
    }),
    ...crawler.joins.map((join) => `  ${nodeOf(join.name)}{{${textOf(joinText(join))}}}`),
    ...takenOf(crawler).map(({ from, to }) => `  ${nodeOf(from)} -.-> ${nodeOf(to)}`),
  ];
}

function dotLines(crawler: Crawler): string[] {
  const textOf = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  // No step has a name with a space.
  const seeds = textOf('its seeds');
  return [
    `digraph ${textOf(crawler.name)} {`,
    `  ${seeds} [label=${textOf(SEEDS)}, shape=oval];`,
    ...stepNames(crawler).map((name) => `  ${textOf(name)} [shape=box];`),
    ...edgesOf(crawler).map(({ from, to, label, isFallback }) => {
      const dashed = isFallback ? ', style=dashed' : '';
      const shown = label === undefined ? '' : ` [label=${textOf(label)}${dashed}]`;
      return `  ${from === undefined ? seeds : textOf(from)} -> ${textOf(to)}${shown};`;
    }),
    ...crawler.joins.map((join) => `  ${textOf(join.name)} [shape=hexagon, label=${textOf(joinText(join))}];`),
    ...takenOf(crawler).map(({ from, to }) => `  ${textOf(from)} -> ${textOf(to)} [style=dashed];`),
    '}',
  ];
}
