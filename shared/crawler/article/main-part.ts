import type { AnyNode, Element } from 'domhandler';
import { isElement } from '../tools/nodes.ts';
import { cardsIn, isLinkedHeading, isSeen } from './cards.ts';
import { counts, type Measured, measured, sums, weightsOf } from './measured.ts';
import { SECTION, verdictsOn } from './surroundings.ts';

/** Where a page's article is. */
export interface MainPart {
  readonly top: Element;
  /** What in it stands around the article. */
  readonly without: ReadonlySet<AnyNode>;
}

/** Characters of prose and code below which there is no article, and, as long as classes are believed, none yet. */
const SHORTEST_ARTICLE = 50;
const SHORTEST_BY_WORDS = 120;
/** Shares of all that a page says: what has less may be around the article if its name or class says so. */
const SHARE_IF_PERHAPS = 0.5;
const SHARE_IF_SURE = 0.7;
/** The share of the article that the element around it has to have. */
const SHARE_OF_TOP = 0.8;
/** What paragraphs beside each other weigh that are not left behind for a larger one. */
const HEAVIEST_BESIDE = 100;
/** A block with more of its characters in links than this share, and more than a few, leads elsewhere. */
const SHARE_OF_LINKS = 0.7;
const FEW_LINKED = 30;
/** What may be taken in with the code around an article: a share of its text, and characters. */
const SHARE_AROUND = 0.5;
const TEXT_AROUND = 200;
/** First elements in each other that are looked at for a heading. */
const MOST_DOWN = 4;

const HEADING = /^h[1-6]$/;
const PARAGRAPHS: ReadonlySet<string> = new Set(['p', 'pre', 'blockquote']);
const CODE_OR_TABLE: ReadonlySet<string> = new Set(['pre', 'th']);
/** Parts of an article, and never all of it. */
const PARTS: ReadonlySet<string> = new Set('p pre ul ol dl dd dt blockquote details figure'.split(' '));
const BLOCKS_OF_LINKS: ReadonlySet<string> = new Set('div section article ul ol dl'.split(' '));
/** A block with one of these is more than its links. */
const SHOWN: ReadonlySet<string> = new Set('pre table math img figure picture video'.split(' '));

/**
 * The main part of a page: what most of its prose and code is in, as far in as that leads, without navigation, lists of other pages,
 * comments and the like. Undefined if there is too little of it, or more of links than of anything else. Takes a fixed number of
 * passes over the page, however it is made.
 */
export function mainPart(page: AnyNode): MainPart | undefined {
  const all = measured(page);
  const weights = weightsOf(all);
  const whole = sums(all, (at) => weights[at] as number);
  // In a forum the comments are the article: if there is nothing else, classes aren't believed.
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

/** The elements that stand around an article, and those in them. */
function elementsAround(page: Measured, whole: Float64Array, areWordsBelieved: boolean): Uint8Array {
  const { elements, parents } = page;
  const cards = cardsIn(page, whole);
  const valuable = counts(page, ({ name }) => CODE_OR_TABLE.has(name));
  const headings = counts(page, (element) => HEADING.test(element.name) && !isLinkedHeading(element));
  const around = new Uint8Array(elements.length);
  for (const [at, element] of elements.entries()) {
    const { byName, byWords } = verdictsOn(element);
    const share = (whole[at] as number) / (whole[0] as number);
    // The header of an article has its heading.
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

/** The innermost element with most of what the page says. */
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

/** Is an element only a part of a text: a block of it, or a section, which begins with a heading? */
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

/** The outermost element around one that has further code or tables, and not much besides. */
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

/** Is there more text in links than outside of them? */
function isOfLinks(page: Measured, around: Uint8Array, top: number): boolean {
  const texts = sums(page, (at) => (around[at] === 1 ? 0 : (page.texts[at] as number)));
  const linked = sums(page, (at) => (around[at] === 1 ? 0 : (page.linked[at] as number)));
  return (linked[top] as number) > (texts[top] as number);
}

/** The outermost elements in an article that are no part of it: what stands around one, and blocks of links. */
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
    // A list among paragraphs is one of the text.
    const isOfText = /^[uo]l$/.test(element.name) && hasParagraphs[parents[at] as number] === 1;
    const isLeftOut = isOfLinks && BLOCKS_OF_LINKS.has(element.name) && shown[at] === 0 && !isOfText;
    if (isLeftOut || around[at] === 1) without.add(element);
  }
  return without;
}
