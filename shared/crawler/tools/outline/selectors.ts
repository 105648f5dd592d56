import type { Options } from 'css-select';
import { type Answers, compiledInSteps, type Query } from '../ancestors.ts';
import { cssSelect } from '../libraries.ts';
import { CompiledSelectors, isCheap, named, OF_ONE } from '../selectors.ts';
import type { Outline, OutlineNode } from './outline.ts';

/** Returns whether a selector can be searched for in an outline, from this node on. */
export function isForOutline(css: string, top: OutlineNode): boolean {
  return top === 0 ? isCheap(css) : OF_ONE.test(css);
}

/** Returns the elements in a node that a selector matches, in document order. Throws an Error that names an invalid selector. */
export function selectIn(outline: Outline, top: OutlineNode, css: string): readonly OutlineNode[] {
  const found: OutlineNode[] = [];
  for (let at = next(outline, top, top, css); at !== undefined; at = next(outline, top, at, css)) found.push(at);
  return found;
}

/** Returns the first of {@link selectIn}. */
export function selectFirstIn(outline: Outline, top: OutlineNode, css: string): OutlineNode | undefined {
  return next(outline, top, top, css);
}

/** Returns the next match after a node, within `top`. */
function next(outline: Outline, top: OutlineNode, after: OutlineNode, css: string): OutlineNode | undefined {
  const matches = queryOf(css);
  const end = outline.end(top);
  searched = outline;
  let at = after + 1;
  while (at < end && !(outline.isElement(at) && matches(at))) at++;
  searched = undefined;
  return at < end ? at : undefined;
}

const compiled = new CompiledSelectors<Query<OutlineNode>>();

function queryOf(css: string): Query<OutlineNode> {
  return compiled.get(css, () => named(css, () => compile(css)));
}

function compile(css: string): Query<OutlineNode> {
  return compiledInSteps<OutlineNode>(css, {
    parentOf: (node) => searched?.parent(node) || undefined,
    answers: () => {
      const known = new WeakMap<Outline, Map<OutlineNode, boolean>>();
      return () => (searched === undefined ? new Map() : answersFor(searched, known));
    },
    compile: (selector, pseudos) =>
      cssSelect()._compileUnsafe<OutlineNode, OutlineNode>(selector, { adapter, pseudos }),
  });
}

function answersFor(outline: Outline, known: WeakMap<Outline, Map<OutlineNode, boolean>>): Answers<OutlineNode> {
  const answers = known.get(outline) ?? new Map<OutlineNode, boolean>();
  known.set(outline, answers);
  return answers;
}

/** The outline being searched. Selectors are compiled once for all pages and read it from here. */
let searched: Outline | undefined;

/** The part of css-select's adapter that selectors of {@link isForOutline} use. */
const adapter = {
  isTag: (node: OutlineNode): node is OutlineNode => node !== 0,
  getName: (node: OutlineNode) => searched?.name(node) ?? '',
  getParent: (node: OutlineNode) => searched?.parent(node) ?? 0,
  getAttributeValue: (node: OutlineNode, name: string) => searched?.attribute(node, name),
  hasAttrib: (node: OutlineNode, name: string) => searched?.attribute(node, name) !== undefined,
} as NonNullable<Options<OutlineNode, OutlineNode>['adapter']>;
