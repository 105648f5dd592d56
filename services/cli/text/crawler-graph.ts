import { conditionText } from '../../../shared/crawler/condition.ts';
import type { Crawler } from '../../../shared/crawler/crawler.ts';

/** What leads to a step: another step's links, or, left out, seeds. */
interface Edge {
  readonly from?: string;
  readonly to: string;
  /** The condition or the pattern under which it does. */
  readonly label?: string;
}

/** The forms in which a graph is printed. */
export const GRAPH_FORMATS = ['mermaid', 'dot'] as const;
export type GraphFormat = (typeof GRAPH_FORMATS)[number];

/** The one function of a short crawler has no name of its own. */
const ONLY_STEP = 'step';
const SEEDS = 'seeds';

/** A crawler's steps and what leads where, as lines of text. */
export function graphLines(crawler: Crawler, format: GraphFormat): string[] {
  return format === 'dot' ? dotLines(crawler) : mermaidLines(crawler);
}

/** The same as data. */
export function graphJson(crawler: Crawler): object {
  return { steps: stepNames(crawler), edges: edgesOf(crawler) };
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
  return [first, ...seeds, ...links];
}

/** Its ids are numbers, since words such as `end` mean something in it. */
function mermaidLines(crawler: Crawler): string[] {
  const names = stepNames(crawler);
  const idOf = (name: string | undefined): string => (name === undefined ? SEEDS : `s${names.indexOf(name)}`);
  const textOf = (text: string): string => `"${text.replaceAll('&', '&amp;').replaceAll('"', '#quot;')}"`;
  return [
    'flowchart TD',
    `  ${SEEDS}([${SEEDS}])`,
    ...names.map((name) => `  ${idOf(name)}[${textOf(name)}]`),
    ...edgesOf(crawler).map(({ from, to, label }) => {
      const shown = label === undefined ? '' : `|${textOf(label)}|`;
      return `  ${idOf(from)} -->${shown} ${idOf(to)}`;
    }),
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
    ...edgesOf(crawler).map(({ from, to, label }) => {
      const shown = label === undefined ? '' : ` [label=${textOf(label)}]`;
      return `  ${from === undefined ? seeds : textOf(from)} -> ${textOf(to)}${shown};`;
    }),
    '}',
  ];
}
