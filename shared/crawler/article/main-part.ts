import type { AnyNode, Element } from 'domhandler';
import { isElement } from '../tools/nodes.ts';
import { cardsIn, isLinkedHeading, isSeen } from './cards.ts';
import { counts, type Measured, measured, sums, weightsOf } from './measured.ts';
import { SECTION, verdictsOn } from './surroundings.ts';

/** The part of a page that is its article. */
export interface MainPart {
  readonly top: Element;
  /** The elements in `top` that aren't part of the article. */
  readonly without: ReadonlySet<AnyNode>;
}

/** Minimum characters of prose and code in an article; the second applies while classes are still trusted. */
const SHORTEST_ARTICLE = 50;
const SHORTEST_BY_WORDS = 120;
/** Shares of a page's text: an element with less counts as outside the article if its name or class suggests it. */
const SHARE_IF_PERHAPS = 0.5;
const SHARE_IF_SURE = 0.7;
/** Share of the article's text that the element chosen for it must contain. */
const SHARE_OF_TOP = 0.8;
/** Weight of paragraphs side by side above which the search doesn't narrow to a single one of them. */
const HEAVIEST_BESIDE = 100;
/** A block is left out if more than this share of its characters, and more than a few, are in links. */
const SHARE_OF_LINKS = 0.7;
const FEW_LINKED = 30;
/** Maximum text added with the code around an article: a share of the article's text plus some characters. */
const SHARE_AROUND = 0.5;
const TEXT_AROUND = 200;
/** Nested first elements that are searched for a heading. */
const MOST_DOWN = 4;

const HEADING = /^h[1-6]$/;
const PARAGRAPHS: ReadonlySet<string> = new Set(['p', 'pre', 'blockquote']);
const CODE_OR_TABLE: ReadonlySet<string> = new Set(['pre', 'th']);
/** Elements that are part of an article, never all of it. */
const PARTS: ReadonlySet<string> = new Set('p pre ul ol dl dd dt blockquote details figure'.split(' '));
const BLOCKS_OF_LINKS: ReadonlySet<string> = new Set('div section article ul ol dl'.split(' '));
/** Elements that make a block more than its links. */
const SHOWN: ReadonlySet<string> = new Set('pre table math img figure picture video'.split(' '));

/**
 * Finds the main part of a page: the innermost element with most of its prose and code, without navigation, lists of other pages, comments
 * and the like. Undefined if there is too little text, or if most of it is in links. Takes a fixed number of passes over any page.
 */
export function mainPart(page: AnyNode): MainPart | undefined {
  const all = measured(page);
  const weights = weightsOf(all);
  const whole = sums(all, (at) => weights[at] as number);
  // In a forum the comments are the article, so if nothing else is found, classes are ignored.
  for (const areWordsBelieved of [true, false]) {
    const around = elementsAround(all, whole, areWordsBelieved);
    const said = sums(all, (at) => (around[at] === 1 ? 0 : (weights[at] as number)));
    if ((said[0] ?? 0) < (areWordsBelieved ? SHORTEST_BY_WORDS : SHORTEST_ARTICLE)) continue;
    const top = withCodeAround(all, around, innermost(all, said, around));
    return isOfLinks(all, around, top)
      ? undefined
      : { top: all.elements[top] as Element, without: leftOut(all, around, top) };
  }
  return undefined;
}

/** Marks the elements around an article, and those inside them. */
function elementsAround(page: Measured, whole: Float64Array, areWordsBelieved: boolean): Uint8Array {
  const { elements, parents } = page;
  const cards = cardsIn(page, whole);
  const valuable = counts(page, ({ name }) => CODE_OR_TABLE.has(name));
  const headings = counts(page, (element) => HEADING.test(element.name) && !isLinkedHeading(element));
  const around = new Uint8Array(elements.length);
  for (const [at, element] of elements.entries()) {
    const { byName, byWords } = verdictsOn(element);
    const share = (whole[at] as number) / (whole[0] as number);
    // The header of the article itself contains its heading.
    const isHeader = element.name === 'header' && (headings[at] as number) > 0;
    const isPerhaps = (byName === 'perhaps' && !isHeader) || (areWordsBelieved && byWords === 'perhaps');
    const isAround =
      around[parents[at] as number] === 1 ||
      cards[at] === 1 ||
      byName === 'yes' ||
      (areWordsBelieved && byWords === 'yes' && !(share >= SHARE_IF_SURE)) ||
      (isPerhaps && valuable[at] === 0 && !(share >= SHARE_IF_PERHAPS));
    if (isAround) around[at] = 1;
  }
  return around;
}

/** Finds the innermost element with most of the page's text. */
function innermost({ elements, parents }: Measured, said: Float64Array, around: Uint8Array): number {
  const heaviest = new Int32Array(elements.length).fill(-1);
  const beside = new Float64Array(elements.length);
  for (const [at, parent] of parents.entries()) {
    if (parent < 0 || around[at] === 1) continue;
    const known = heaviest[parent] as number;
    if (known < 0 || (said[at] as number) > (said[known] as number)) heaviest[parent] = at;
    const { name } = elements[at] as Element;
    if (PARAGRAPHS.has(name)) beside[parent] = (beside[parent] as number) + (said[at] as number);
  }
  for (let top = 0; ; ) {
    const next = heaviest[top] as number;
    if (next < 0 || (said[next] as number) < SHARE_OF_TOP * (said[0] as number)) return top;
    if ((beside[top] as number) > HEAVIEST_BESIDE || isPart(elements[next] as Element)) return top;
    top = next;
  }
}

/** Returns whether an element is only part of a text: one of its blocks, or a section, which begins with a heading. */
function isPart(element: Element): boolean {
  const { name, attribs } = element;
  if (PARTS.has(name)) return true;
  if (name !== 'section' && !SECTION.test(attribs.class ?? '')) return false;
  let at: AnyNode | undefined = element;
  for (let down = 0; at !== undefined && isElement(at) && down < MOST_DOWN; down++) {
    if (HEADING.test(at.name)) return at.name !== 'h1';
    at = at.children.find(isSeen);
  }
  return false;
}

/** Finds the outermost ancestor that adds code or tables to an element, but not much else. */
function withCodeAround(page: Measured, around: Uint8Array, top: number): number {
  const { parents, texts, linked } = page;
  const text = sums(page, (at) => (around[at] === 1 ? 0 : (texts[at] as number) + (linked[at] as number)));
  const valuable = counts(page, ({ name }, at) => around[at] === 0 && CODE_OR_TABLE.has(name));
  const most = (text[top] as number) * (1 + SHARE_AROUND) + TEXT_AROUND;
  let found = top;
  for (let at = parents[top] as number; at >= 0; at = parents[at] as number) {
    if ((valuable[at] as number) > (valuable[top] as number) && (text[at] as number) < most) found = at;
  }
  return found;
}

/** Returns whether there is more text in links than outside them. */
function isOfLinks(page: Measured, around: Uint8Array, top: number): boolean {
  const texts = sums(page, (at) => (around[at] === 1 ? 0 : (page.texts[at] as number)));
  const linked = sums(page, (at) => (around[at] === 1 ? 0 : (page.linked[at] as number)));
  return (linked[top] as number) > (texts[top] as number);
}

/** Returns the outermost elements in an article that aren't part of it: surroundings and blocks of links. */
function leftOut(page: Measured, around: Uint8Array, top: number): ReadonlySet<AnyNode> {
  const { elements, parents } = page;
  const without = new Set<AnyNode>();
  const texts = sums(page, (at) => page.texts[at] as number);
  const linked = sums(page, (at) => page.linked[at] as number);
  const shown = counts(page, ({ name }) => SHOWN.has(name));
  const hasParagraphs = new Uint8Array(elements.length);
  for (const [at, parent] of parents.entries()) {
    if (parent >= 0 && PARAGRAPHS.has((elements[at] as Element).name)) hasParagraphs[parent] = 1;
  }
  for (let at = top + 1; at < elements.length && (parents[at] as number) >= top; at++) {
    const element = elements[at] as Element;
    const inLinks = linked[at] as number;
    const isOfLinks = inLinks > FEW_LINKED && inLinks > SHARE_OF_LINKS * (inLinks + (texts[at] as number));
    // A list among paragraphs belongs to the text.
    const isOfText = /^[uo]l$/.test(element.name) && hasParagraphs[parents[at] as number] === 1;
    const isLeftOut = isOfLinks && BLOCKS_OF_LINKS.has(element.name) && shown[at] === 0 && !isOfText;
    if (isLeftOut || around[at] === 1) without.add(element);
  }
  return without;
}
