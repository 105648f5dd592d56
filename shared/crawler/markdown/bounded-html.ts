import type { AnyNode, Element } from 'domhandler';
import { escapeAttribute, escapeText } from 'entities';
import { beginning } from '../../task/beginning.ts';
import { shortened } from '../../task/shortened.ts';
import { MAX_MARKDOWN_ADDRESSES, MAX_MARKDOWN_NODES, MAX_MARKDOWN_TEXT } from '../../task/task/page-limits.ts';
import type { LinkBase } from '../../task/url/url.ts';
import { isElement } from '../tools/nodes.ts';
import { sourceOf, textOf } from '../tools/text.ts';
import { codeIn, isCount, languageOf } from './code-block.ts';
import { FOOTNOTE, MARKS } from './converter.ts';
import { type Footnotes, footnotesIn } from './footnotes.ts';
import { Indentation } from './indentation.ts';
import { linkedBlock } from './linked-block.ts';
import { formulaOf, isPictureOfFormula } from './math.ts';
import { isForPicture, isNoPlace, sourcesOf } from './pictures.ts';
import { definitionParts, isBeforeCode, listParts } from './structures.ts';
import { Tables } from './tables.ts';

/** Nested elements that become markdown. Deeper ones are written as content of the last. */
const MAX_DEPTH = 64;
/** Maximum white space written in a row, `<br>` included: the converter takes quadratic time to trim it. */
const MAX_BLANKS = 256;
/** Elements that aren't for readers. */
const LEFT_OUT: ReadonlySet<string> = new Set(
  'script style template head title noscript frameset noframes svg math iframe object select button canvas audio video'.split(
    ' ',
  ),
);
const VOID: ReadonlySet<string> = new Set(['br', 'hr', 'img']);
/** Attributes that markdown has a place for. */
const KEPT: ReadonlySet<string> = new Set(['alt', 'title']);
/** Maximum characters of such an attribute. */
const MOST_OF_ATTRIBUTE = 10_000;
/** Schemes of addresses that lead nowhere, since they contain a picture or a script themselves. */
const NO_ADDRESSES: ReadonlySet<string> = new Set(['data:', 'javascript:', 'blob:']);
/** Blocks that the converter doesn't know. */
const MORE_BLOCKS: ReadonlySet<string> = new Set([
  'caption',
  'details',
  'dialog',
  'legend',
  'search',
  'summary',
  'section',
]);
const CODE: ReadonlySet<string> = new Set(['code', 'kbd', 'samp', 'tt']);
/** Boxes beside the text in documentation. */
const ADMONITION = /(?:^|\s)(?:admonition|theme-admonition|markdown-alert|custom-block)(?:\s|$)/;
const HEADING = /^h[1-6]$/;
const LIST = /^[ou]l$/;
/** Inline elements without an equivalent in markdown. */
const UNMARKED: ReadonlySet<string> = new Set(
  'abbr bdi bdo big cite data dfn font ins label mark small span time u var'.split(' '),
);
/** Tags of elements that are always on one line in markdown. */
const ON_LINE = /^<\/?(?:a|b|del|em|h[1-6]|i|q|s|strong|su[bp])\b/;
const TABLE_PARTS: ReadonlySet<string> = new Set(['thead', 'tbody', 'tfoot', 'tr', 'td', 'th']);

/** Writes the HTML of a node within limits that let a converter recurse into it and finish in time. May leave tags open at the end. */
export class BoundedHtml {
  readonly #base: LinkBase;
  readonly #without: ReadonlySet<AnyNode>;
  readonly #footnotes: Footnotes;
  /** Links around blocks, by the block that is linked instead. */
  readonly #linked = new Map<Element, Element>();
  /** The numbers of the items of lists. */
  readonly #numbers = new Map<Element, number>();
  /** For each open list, whether its marks differ from those of the list before it. */
  readonly #lists: boolean[] = [];
  /** A list that has ended, if nothing was written since. */
  #listBefore: { readonly name: string; readonly isOther: boolean } | undefined;
  /** Cached by cell, whether the next cell has code in it. */
  readonly #beforeCode = new Map<Element, boolean>();
  /** Nodes and tags still to be written; tags are strings. */
  readonly #waiting: (AnyNode | string)[];
  readonly #tables = new Tables(() => {
    this.#isCut = true;
  });
  readonly #indentation = new Indentation();
  #html = '';
  #isCut = false;
  #nodes = 0;
  #characters = 0;
  #addressCharacters = 0;
  #depth = 0;
  #cells = 0;
  /** Number of open elements that are written on one line. */
  #lines = 0;
  /** Whether no text was written since inline code. */
  #isAfterCode = false;
  /** White space kept by the converter since the last text: `<br>` and no-break spaces. */
  #blanks = 0;

  constructor(top: AnyNode, base: LinkBase, without: ReadonlySet<AnyNode> = new Set()) {
    this.#base = base;
    this.#without = without;
    this.#footnotes = footnotesIn(top);
    this.#waiting = [top];
  }

  write(): string {
    for (let at = this.#waiting.pop(); at !== undefined; at = this.#waiting.pop()) {
      if (typeof at === 'string') this.#writeTag(at);
      else if (++this.#nodes > MAX_MARKDOWN_NODES || this.#isFull) {
        this.#isCut = true;
        break;
      } else if (isElement(at)) this.#writeElement(at);
      else if ('data' in at) this.#writeText(at.data);
      else this.#push(at.children);
    }
    return this.#html;
  }

  /** Whether the node has more than the limits allow. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get #isFull(): boolean {
    const isTextFull = this.#characters >= MAX_MARKDOWN_TEXT;
    return isTextFull || this.#addressCharacters >= MAX_MARKDOWN_ADDRESSES || this.#indentation.isFull;
  }

  #writeTag(tag: string): void {
    this.#html += this.#parted(tag);
    this.#indentation.read(tag);
    const step = tag.startsWith('</') ? -1 : 1;
    this.#depth += step;
    if (/^<\/?td\b/.test(tag)) this.#cells += step;
    else if (ON_LINE.test(tag)) this.#lines += step;
    else if (step > 0) this.#indentation.addLine();
  }

  /** Returns a tag. A list right after another one gets a class that gives it different marks, which keeps the two apart. */
  #parted(tag: string): string {
    const [, end, name] = /^<(\/?)(ol|ul|li|blockquote)\b/.exec(tag) ?? [];
    if (name === undefined) return tag;
    const before = this.#listBefore;
    this.#listBefore = undefined;
    if (!LIST.test(name)) return tag;
    if (end !== '') {
      this.#listBefore = { name, isOther: this.#lists.pop() ?? false };
      return tag;
    }
    const isOther = before?.name === name && !before.isOther;
    this.#lists.push(isOther);
    return isOther ? tag.replace(name, `${name} class="${MARKS.other}"`) : tag;
  }

  #writeElement(element: Element): void {
    if (this.#without.has(element)) return;
    const formula = formulaOf(element);
    if (formula !== undefined) {
      const mark = formula.isDisplay && this.#cells === 0 ? MARKS.displayed : MARKS.formula;
      this.#writeCode(formula.tex, mark);
      return;
    }
    if (this.#isLeftOut(element)) return;
    const { name, children } = element;
    const reference = this.#footnotes.references.get(element);
    if (reference !== undefined) this.#writeCode(reference, MARKS.reference);
    else if (VOID.has(name)) this.#writeVoid(element);
    else if (name === 'pre') this.#writeLines(element);
    else if (CODE.has(name)) this.#writeInline(element);
    else if (name === 'input') this.#writeBox(element);
    else if (name === 'table') this.#writeTable(element);
    else if (LIST.test(name) && this.#depth < MAX_DEPTH) this.#push(listParts(element, this.#numbers));
    else if (name === 'dl' && this.#depth < MAX_DEPTH) this.#push(definitionParts(element));
    // These mean nothing in markdown, and their tags would split a block from its line, and the space after a checkbox from the checkbox.
    else if (UNMARKED.has(name) && !ADMONITION.test(element.attribs.class ?? '')) this.#push(children);
    else this.#writeAround(element, children);
  }

  /** Writes an element as its tags and its content. */
  #writeAround(element: Element, children: readonly AnyNode[]): void {
    const isTooDeep = this.#depth >= MAX_DEPTH;
    const linked = element.name === 'a' ? linkedBlock(element) : undefined;
    if (linked !== undefined) this.#linked.set(linked, element);
    const name = linked === undefined ? this.#nameOf(element) : 'div';
    const link = this.#linked.get(element);
    if (!isTooDeep) this.#waiting.push(`</${name}>`);
    if (link !== undefined && !isTooDeep) this.#waiting.push('</a>');
    this.#push(children);
    if (link !== undefined && !isTooDeep) this.#waiting.push(`<a${this.#attributesOf(link)}>`);
    if (!isTooDeep) this.#waiting.push(`<${name}${linked === undefined ? this.#attributesOf(element) : ''}>`);
  }

  #isLeftOut(element: Element): boolean {
    const { name } = element;
    if (LEFT_OUT.has(name)) return !(isHeadingButton(element) || (name === 'noscript' && isForPicture(element)));
    if (this.#footnotes.back.has(element) || isPictureOfFormula(element)) return true;
    return name === 'a' && isPermalink(element);
  }

  #writeVoid(element: Element): void {
    const { name } = element;
    this.#blanks = name === 'br' ? this.#blanks + 1 : 0;
    if (name !== 'br') this.#listBefore = undefined;
    if (name !== 'img') this.#indentation.addLine();
    if (this.#blanks <= MAX_BLANKS) this.#html += `<${name}${this.#attributesOf(element)}>`;
  }

  #writeText(data: string): void {
    const text = this.#room(data);
    const shown = text.trimEnd();
    if (shown !== '') this.#listBefore = undefined;
    if (text !== '') this.#isAfterCode = false;
    const kept = text.slice(shown.length).replaceAll(/[\t\n\f\r ]+/g, '').length;
    this.#blanks = shown === '' ? this.#blanks + kept : kept;
    if (shown !== '' || kept === 0 || this.#blanks <= MAX_BLANKS) this.#html += escaped(text);
  }

  /** Writes a `<pre>` as a block of code; in a table cell, a heading or an emphasis, which can't contain blocks, as code for each line. */
  #writeLines(pre: Element): void {
    const isBlock = this.#cells + this.#lines === 0;
    const code = isBlock ? this.#indentedTaken(codeIn(pre)) : this.#taken(codeIn(pre));
    if (code.trim() === '') return;
    if (isBlock) {
      if (isCount(code) && isBeforeCode(pre, this.#beforeCode)) return;
      const language = languageOf(pre);
      const attribute = language === '' ? '' : ` class="language-${escapeAttribute(language)}"`;
      this.#html += `<pre><code${attribute}>${escaped(code)}</code></pre>`;
      return;
    }
    if (this.#isAfterCode) this.#html += ' ';
    this.#isAfterCode = this.#cells === 0;
    const all = code.split('\n').filter((line) => line.trim() !== '');
    // Each becomes an element.
    const lines = all.slice(0, MAX_MARKDOWN_NODES - this.#nodes);
    this.#nodes += lines.length;
    if (lines.length < all.length) this.#isCut = true;
    const written = lines.map((line) => `<code>${escaped(line.trim())}</code>`).join('<br>');
    this.#html += this.#cells > 0 ? `${written}<br>` : written;
  }

  /** Writes inline code. Markdown allows nothing inside it, but can have a link around it. */
  #writeInline(element: Element): void {
    const [only, ...others] = element.children.filter((child) => !('data' in child) || child.data.trim() !== '');
    const isLink = only !== undefined && others.length === 0 && isElement(only) && only.name === 'a';
    const link = isLink ? this.#attributesOf(only) : '';
    if (link !== '') this.#html += `<a${link}>`;
    this.#writeCode(sourceOf(element), undefined);
    if (link !== '') this.#html += '</a>';
  }

  #writeCode(text: string, mark: string | undefined): void {
    const attribute = mark === undefined ? '' : ` class="${mark}"`;
    // Without a space, the backticks of adjacent code would merge.
    if (mark === undefined && this.#isAfterCode) this.#html += ' ';
    this.#html += `<code${attribute}>${escaped(this.#taken(text))}</code>`;
    this.#isAfterCode = mark === undefined;
    this.#blanks = 0;
  }

  /** Writes the checkbox of a task list. Skips other inputs. */
  #writeBox({ attribs, parent }: Element): void {
    const isInList = parent !== null && isElement(parent) && /^(?:li|p|label)$/.test(parent.name);
    if (isInList && attribs.type?.toLowerCase() === 'checkbox')
      this.#html += `<input${attribs.checked === undefined ? '' : ' checked'}>`;
  }

  #taken(text: string): string {
    this.#listBefore = undefined;
    return this.#room(text);
  }

  /** Returns the part of a block of code that there is room for, with its lines indented. */
  #indentedTaken(code: string): string {
    const fitting = this.#indentation.fitting(code);
    if (fitting.length < code.length) this.#isCut = true;
    return this.#taken(fitting);
  }

  /** Returns the part of a text that there is room for. */
  #room(text: string): string {
    const left = MAX_MARKDOWN_TEXT - this.#characters;
    this.#characters += Math.min(text.length, left);
    if (text.length > left) this.#isCut = true;
    return beginning(text, left);
  }

  #writeTable(table: Element): void {
    const parts = this.#tables.partsOf(table);
    if (parts === undefined) this.#writeAround(table, table.children);
    else this.#push(parts);
  }

  #push(parts: readonly (AnyNode | string)[]): void {
    // Pushed one by one: there may be too many for the arguments of one call.
    for (let at = parts.length - 1; at >= 0; at--) this.#waiting.push(parts[at] as AnyNode | string);
  }

  /** Returns the name of an element for the converter. Tables used for layout become nested blocks. */
  #nameOf(element: Element): string {
    const { name, attribs } = element;
    if (this.#footnotes.notes.has(element)) return FOOTNOTE;
    if (ADMONITION.test(attribs.class ?? '')) return 'blockquote';
    if (name === 'table' || TABLE_PARTS.has(name) || MORE_BLOCKS.has(name)) return 'div';
    if (this.#cells > 0 && HEADING.test(name)) return 'div';
    if (name === 'strike') return 's';
    return /^[a-z][a-z0-9]{0,30}$/.test(name) ? name : 'span';
  }

  #attributesOf(element: Element): string {
    const { name: tag, attribs } = element;
    const note = this.#footnotes.notes.get(element);
    if (note !== undefined) return ` class="${escapeAttribute(note)}"`;
    const addresses = tag === 'img' ? sourcesOf(element) : [attribs.href];
    const address = addresses.map((written) => this.#addressOf(written)).find((found) => found !== undefined);
    const kept = Object.entries(attribs)
      .filter(([name]) => KEPT.has(name))
      .map(([name, value]): [string, string] => [name, shortened(value, MOST_OF_ATTRIBUTE)]);
    const number = this.#numbers.get(element);
    if (number !== undefined) kept.push(['value', String(number)]);
    if (address !== undefined) kept.push([tag === 'img' ? 'src' : 'href', address]);
    return kept.map(([name, value]) => ` ${name}="${escapeAttribute(value)}"`).join('');
  }

  /** Returns an address as an absolute URL; undefined if it leads nowhere. */
  #addressOf(written = ''): string | undefined {
    if (isNoPlace(written)) return undefined;
    const url = URL.parse(written, this.#base.href);
    if (url === null || NO_ADDRESSES.has(url.protocol)) return undefined;
    this.#addressCharacters += url.href.length;
    return url.href;
  }
}

function escaped(text: string): string {
  return escapeText(text.replaceAll(/\s+/g, (blank) => blank.slice(0, MAX_BLANKS)));
}

/** Returns whether an element is a button in a heading: a heading that unfolds its section has its text in one. */
function isHeadingButton({ name, parent }: Element): boolean {
  return name === 'button' && parent !== null && isElement(parent) && HEADING.test(parent.name);
}

/** Returns whether a link is the sign beside a heading with which readers copy its link. */
function isPermalink(link: Element): boolean {
  const { attribs, parent } = link;
  if (!attribs.href?.startsWith('#') || parent === null || !isElement(parent) || !HEADING.test(parent.name))
    return false;
  return (
    !/[\p{L}\p{N}]/u.test(textOf(link)) && !link.children.some((child) => isElement(child) && child.name === 'img')
  );
}
