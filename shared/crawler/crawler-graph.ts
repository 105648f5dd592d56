import { conditionText } from './condition.ts';
import type { Crawler } from './crawler.ts';
import { FILE_STEP } from './file-step.ts';
import type { Join } from './joins/joins.ts';

/** A way to a step: from another step's links or failure, or from seeds if `from` is missing. */
interface Edge {
  readonly from?: string;
  readonly to: string;
  /** The condition or pattern that applies. */
  readonly label?: string;
  /** Whether `to` takes over when `from` fails. */
  readonly isFallback?: true;
}

/** The formats in which a graph can be printed. */
export const GRAPH_FORMATS = ['mermaid', 'dot'] as const;
export type GraphFormat = (typeof GRAPH_FORMATS)[number];

/** Stands for the function of a short crawler, which has no name. */
const ONLY_STEP = 'step';
const SEEDS = 'seeds';

/** Draws a crawler's steps, the ways between them and the inputs of its joins, as lines of text. */
export function graphLines(crawler: Crawler, format: GraphFormat): string[] {
  return format === 'dot' ? dotLines(crawler) : mermaidLines(crawler);
}

/** Returns the same graph as data. */
export function graphJson(crawler: Crawler): object {
  const joins = crawler.joins.map(({ name, per, of }) => ({ name, ...(per === undefined ? {} : { per }), of }));
  return { steps: stepNames(crawler), edges: edgesOf(crawler), ...(joins.length === 0 ? {} : { joins }) };
}

/** The steps' names, and that of the step that stores files if URLs start there. */
function stepNames({ steps, patterns }: Crawler): string[] {
  const files = Object.keys(patterns).filter((name) => name === FILE_STEP.name);
  return steps.length === 0 ? [ONLY_STEP] : [...steps.map(({ name }) => name), ...files];
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

/** A join's name, and whether it runs per owner or once for the run. */
function joinText({ name, per }: Join): string {
  return per === undefined ? `${name}, of the run` : `${name}, per ${per}`;
}

/** The edges from the steps and joins that each join takes. */
function takenOf({ joins }: Crawler): { readonly from: string; readonly to: string }[] {
  return joins.flatMap(({ name, of }) => of.map((from) => ({ from, to: name })));
}

/** Uses numbered ids, since words such as `end` are reserved in Mermaid. */
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
  // No step's name contains a space, so this one is free.
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
