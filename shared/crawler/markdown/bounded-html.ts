import type { AnyNode, Element } from 'domhandler';
import { escapeAttribute, escapeText } from 'entities';
import { beginning } from '../../task/beginning.ts';
import { shortened } from '../../task/shortened.ts';
import { MAX_MARKDOWN_NODES, MAX_MARKDOWN_TEXT } from '../../task/task/page-limits.ts';
import type { LinkBase } from '../../task/url/url.ts';
import { isElement } from '../tools/nodes.ts';
import { sourceOf, textOf } from '../tools/text.ts';
import { codeIn, isCount, languageOf } from './code-block.ts';
import { FOOTNOTE, MARKS } from './converter.ts';
import { type Footnotes, footnotesIn } from './footnotes.ts';
import { linkedBlock } from './linked-block.ts';
import { formulaOf, isPictureOfFormula } from './math.ts';
import { isForPicture, isNoPlace, sourcesOf } from './pictures.ts';
import { definitionParts, isBeforeCode, isDataTable, listParts, tableParts } from './structures.ts';

/** Elements in each other that become markdown. Deeper ones are written as content of the last. */
const MAX_DEPTH = 64;
/** White space in a row that is written, a `<br>` being one: the converter trims it in time that grows with the square of its length. */
const MAX_BLANKS = 256;
/** Not for readers. */
const LEFT_OUT: ReadonlySet<string> = new Set(
  'script style template head title noscript frameset noframes svg math iframe object select button canvas audio video'.split(
    ' ',
  ),
);
const VOID: ReadonlySet<string> = new Set(['br', 'hr', 'img']);
/** Attributes that markdown has a place for. */
const KEPT: ReadonlySet<string> = new Set(['alt', 'title']);
/** Characters of such an attribute. */
const MOST_OF_ATTRIBUTE = 10_000;
/** Addresses that lead nowhere: they hold a picture or a script themselves. */
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
/** Boxes beside the text, as documentation has them. */
const ADMONITION = /(?:^|\s)(?:admonition|theme-admonition|markdown-alert|custom-block)(?:\s|$)/;
const HEADING = /^h[1-6]$/;
const LIST = /^[ou]l$/;
/** Inline elements that markdown has nothing for. */
const UNMARKED: ReadonlySet<string> = new Set(
  'abbr bdi bdo big cite data dfn font ins label mark small span time u var'.split(' '),
);
/** What stands on one line in markdown, whatever is in it. */
const ON_LINE = /^<\/?(?:a|b|del|em|h[1-6]|i|q|s|strong|su[bp])\b/;
const TABLE_PARTS: ReadonlySet<string> = new Set(['thead', 'tbody', 'tfoot', 'tr', 'td', 'th']);

/** Writes the HTML of a node that a converter can recurse into and finish in time. What it leaves open ends with it. */
export class BoundedHtml {
  readonly #base: LinkBase;
  readonly #without: ReadonlySet<AnyNode>;
  readonly #footnotes: Footnotes;
  /** The links around blocks, by the block that is linked in their place. */
  readonly #linked = new Map<Element, Element>();
  /** The numbers of the items of lists. */
  readonly #numbers = new Map<Element, number>();
  /** The lists that are open: which have other marks than the one before? */
  readonly #lists: boolean[] = [];
  /** A list that has ended, and after which nothing was written. */
  #listBefore: { readonly name: string; readonly isOther: boolean } | undefined;
  /** Cells of which it is known whether there is code in the next one. */
  readonly #beforeCode = new Map<Element, boolean>();
  /** What is still to be written; a text is a tag. */
  readonly #waiting: (AnyNode | string)[];
  #html = '';
  #isCut = false;
  #characters = 0;
  #depth = 0;
  #cells = 0;
  /** Elements around that stand on one line. */
  #lines = 0;
  /** No text was written since code in a line. */
  #isAfterCode = false;
  /** White space since the last text that the converter keeps: `<br>`, and no-break spaces. */
  #blanks = 0;

  constructor(top: AnyNode, base: LinkBase, without: ReadonlySet<AnyNode> = new Set()) {
    this.#base = base;
    this.#without = without;
    this.#footnotes = footnotesIn(top);
    this.#waiting = [top];
  }

  write(): string {
    let nodes = 0;
    for (let at = this.#waiting.pop(); at !== undefined; at = this.#waiting.pop()) {
      if (typeof at === 'string') this.#writeTag(at);
      else if (++nodes > MAX_MARKDOWN_NODES || this.#characters >= MAX_MARKDOWN_TEXT) {
        this.#isCut = true;
        break;
      } else if (isElement(at)) this.#writeElement(at);
      else if ('data' in at) this.#writeText(at.data);
      else this.#push(at.children);
    }
    return this.#html;
  }

  /** Was there more than the limits allow? */
  get isCut(): boolean {
    return this.#isCut;
  }

  #writeTag(tag: string): void {
    this.#html += this.#parted(tag);
    const step = tag.startsWith('</') ? -1 : 1;
    this.#depth += step;
    if (/^<\/?td\b/.test(tag)) this.#cells += step;
    if (ON_LINE.test(tag)) this.#lines += step;
  }

  /** A tag; of a list with nothing but another one before it, with the class by which it has other marks than that one. */
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
    else if (name === 'table' && isDataTable(element)) this.#pushTable(element);
    else if (LIST.test(name) && this.#depth < MAX_DEPTH) this.#push(listParts(element, this.#numbers));
    else if (name === 'dl' && this.#depth < MAX_DEPTH) this.#push(definitionParts(element));
    // Nothing in markdown; their tags would part a block in them from its line, and the space behind a box from the box.
    else if (UNMARKED.has(name) && !ADMONITION.test(element.attribs.class ?? '')) this.#push(children);
    else this.#writeAround(element, children);
  }

  /** An element by its tags and what is in it. */
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

  /** A `<pre>`: a block of code; in a cell of a table, a heading or an emphasis, which have no blocks, code for each line. */
  #writeLines(pre: Element): void {
    const code = this.#taken(codeIn(pre));
    if (code.trim() === '') return;
    if (this.#cells + this.#lines === 0) {
      if (isCount(code) && isBeforeCode(pre, this.#beforeCode)) return;
      const language = languageOf(pre);
      const attribute = language === '' ? '' : ` class="language-${escapeAttribute(language)}"`;
      this.#html += `<pre><code${attribute}>${escaped(code)}</code></pre>`;
      return;
    }
    if (this.#isAfterCode) this.#html += ' ';
    this.#isAfterCode = this.#cells === 0;
    const lines = code.split('\n').filter((line) => line.trim() !== '');
    const written = lines.map((line) => `<code>${escaped(line.trim())}</code>`).join('<br>');
    this.#html += this.#cells > 0 ? `${written}<br>` : written;
  }

  /** Code within a line: markdown has nothing inside it, but may have a link around it. */
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
    // Their backticks would be read as one row.
    if (mark === undefined && this.#isAfterCode) this.#html += ' ';
    this.#html += `<code${attribute}>${escaped(this.#taken(text))}</code>`;
    this.#isAfterCode = mark === undefined;
    this.#blanks = 0;
  }

  /** A box of a list of tasks. Other fields are nothing to read. */
  #writeBox({ attribs, parent }: Element): void {
    const isInList = parent !== null && isElement(parent) && /^(?:li|p|label)$/.test(parent.name);
    if (isInList && attribs.type?.toLowerCase() === 'checkbox')
      this.#html += `<input${attribs.checked === undefined ? '' : ' checked'}>`;
  }

  #taken(text: string): string {
    this.#listBefore = undefined;
    return this.#room(text);
  }

  /** What of a text there is room for. */
  #room(text: string): string {
    const left = MAX_MARKDOWN_TEXT - this.#characters;
    this.#characters += Math.min(text.length, left);
    if (text.length > left) this.#isCut = true;
    return beginning(text, left);
  }

  #pushTable(table: Element): void {
    const onCut = (): void => {
      this.#isCut = true;
    };
    this.#push(tableParts(table, MAX_MARKDOWN_NODES, onCut));
  }

  #push(parts: readonly (AnyNode | string)[]): void {
    // Not as arguments of one call: there may be too many.
    for (let at = parts.length - 1; at >= 0; at--) this.#waiting.push(parts[at] as AnyNode | string);
  }

  /** The name that a converter is given. A table for layout is a block of blocks. */
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

  /** An address as it is to be written; nothing if it leads nowhere. */
  #addressOf(written = ''): string | undefined {
    if (isNoPlace(written)) return undefined;
    const url = URL.parse(written, this.#base.href);
    return url === null || NO_ADDRESSES.has(url.protocol) ? undefined : url.href;
  }
}

function escaped(text: string): string {
  return escapeText(text.replaceAll(/\s+/g, (blank) => blank.slice(0, MAX_BLANKS)));
}

/** The text of a heading that opens what is below it may be a button. */
function isHeadingButton({ name, parent }: Element): boolean {
  return name === 'button' && parent !== null && isElement(parent) && HEADING.test(parent.name);
}

/** The sign beside a heading by which readers copy its link. */
function isPermalink(link: Element): boolean {
  const { attribs, parent } = link;
  if (!attribs.href?.startsWith('#') || parent === null || !isElement(parent) || !HEADING.test(parent.name))
    return false;
  return (
    !/[\p{L}\p{N}]/u.test(textOf(link)) && !link.children.some((child) => isElement(child) && child.name === 'img')
  );
}
