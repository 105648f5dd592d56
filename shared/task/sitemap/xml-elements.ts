import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

/** An element's name, in lower case, split at its prefix. Namespaces are not resolved: too many sitemaps use a wrong one. */
export interface XmlName {
  readonly full: string;
  readonly prefix: string;
  readonly local: string;
}

/** The callbacks of {@link XmlElements}. `depth` is that of the element: 1 for the root. */
export interface XmlHandler {
  onOpen(name: XmlName, parent: XmlName | undefined, depth: number): void;
  /** Not called for elements that are still open at the end of the document. */
  onClose(name: XmlName, depth: number): void;
  /** Gets a piece of an element's text, with entities decoded and CDATA as is. Called several times for some elements. */
  onText(piece: string, depth: number): void;
  onAttribute(name: string, value: string): void;
  /** Gets the text between `<!` and `>`; undefined if it was too long to keep. */
  onDeclaration(text: string | undefined): void;
  /** Are text and attributes needed now? If not, they are not extracted. */
  readonly wantsText: boolean;
  readonly wantsAttributes: boolean;
}

/** Maximum depth of elements. Deeper ones are not reported. */
const MAX_XML_DEPTH = 64;
/** Characters kept from before the current chunk. Longer names, CDATA sections and attributes are dropped. */
const MAX_CARRIED = 16_384;
const MAX_NAMES = 500;

/**
 * Reads XML leniently as it arrives: no document is an error, and none takes more memory than its chunks. It ignores DTDs and
 * expands only XML's own five entities. An element left open is closed when an outer one ends, or when another element of the
 * same name opens directly inside it.
 *
 * It is built on htmlparser2's tokenizer, not its parser: the parser keeps every chunk of an endless comment, and searches the
 * whole stack for each stray end tag.
 */
export class XmlElements implements TokenizerCallbacks {
  readonly #handler: XmlHandler;
  readonly #tokenizer: Tokenizer;
  readonly #names = new Map<string, XmlName>();
  readonly #open: XmlName[] = [];
  /** Open elements below {@link MAX_XML_DEPTH}. */
  #deeper = 0;
  #chunk = '';
  #chunkStart = 0;
  #carried = '';
  #attributeName = '';
  #attributeValue = '';

  constructor(handler: XmlHandler) {
    this.#handler = handler;
    this.#tokenizer = new Tokenizer({ xmlMode: true }, this);
  }

  write(chunk: string): void {
    this.#carried += this.#chunk;
    if (this.#carried.length > 2 * MAX_CARRIED) this.#carried = this.#carried.slice(-MAX_CARRIED);
    this.#chunkStart += this.#chunk.length;
    this.#chunk = chunk;
    this.#tokenizer.write(chunk);
  }

  end(): void {
    this.#tokenizer.end();
  }

  /** At the end: was the document cut off inside an end tag? Then the text before that tag is complete. */
  get endsInEndTag(): boolean {
    const last = this.#carried.slice(-MAX_CARRIED) + this.#chunk.slice(-MAX_CARRIED);
    return last.lastIndexOf('</') > last.lastIndexOf('>');
  }

  /** @internal called by the tokenizer, like those below */
  onopentagname(start: number, end: number): void {
    const name = this.#nameAt(start, end);
    const parent = this.#open.at(-1);
    if (this.#deeper === 0 && parent?.full === name.full) this.#closeTop();
    if (this.#deeper > 0 || this.#open.length === MAX_XML_DEPTH) {
      this.#deeper++;
      return;
    }
    const outer = this.#open.at(-1);
    this.#open.push(name);
    this.#handler.onOpen(name, outer, this.#open.length);
  }

  onselfclosingtag(): void {
    if (this.#deeper > 0) this.#deeper--;
    else this.#closeTop();
  }

  onclosetag(start: number, end: number): void {
    if (this.#deeper > 0) {
      this.#deeper--;
      return;
    }
    const { full } = this.#nameAt(start, end);
    const index = this.#open.findLastIndex((open) => open.full === full);
    if (index < 0) return;
    while (this.#open.length > index) this.#closeTop();
  }

  ontext(start: number, end: number): void {
    if (!this.#handler.wantsText || this.#deeper > 0) return;
    const piece = this.#slice(start, end);
    if (piece !== undefined) this.#handler.onText(piece, this.#open.length);
  }

  ontextentity(codePoint: number): void {
    if (!this.#handler.wantsText || this.#deeper > 0) return;
    this.#handler.onText(String.fromCodePoint(codePoint), this.#open.length);
  }

  oncdata(start: number, end: number, endOffset: number): void {
    this.ontext(start, end - endOffset);
  }

  onattribname(start: number, end: number): void {
    if (this.#handler.wantsAttributes) this.#attributeName = this.#slice(start, end)?.toLowerCase() ?? '';
  }

  onattribdata(start: number, end: number): void {
    if (this.#handler.wantsAttributes) this.#addToAttribute(this.#slice(start, end));
  }

  onattribentity(codePoint: number): void {
    if (this.#handler.wantsAttributes) this.#addToAttribute(String.fromCodePoint(codePoint));
  }

  onattribend(): void {
    if (this.#handler.wantsAttributes && this.#deeper === 0) {
      this.#handler.onAttribute(this.#attributeName, this.#attributeValue);
    }
    this.#attributeValue = '';
  }

  ondeclaration(start: number, end: number): void {
    this.#handler.onDeclaration(this.#slice(start, end));
  }

  onopentagend(): void {}
  oncomment(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #closeTop(): void {
    const depth = this.#open.length;
    const name = this.#open.pop();
    if (name !== undefined) this.#handler.onClose(name, depth);
  }

  #addToAttribute(piece: string | undefined): void {
    if (this.#attributeValue.length < MAX_CARRIED) this.#attributeValue += piece ?? '';
  }

  /** Returns a part of the document, which may begin before the current chunk; nothing if its beginning is no longer kept. */
  #slice(start: number, end: number): string | undefined {
    const from = start - this.#chunkStart;
    const to = end - this.#chunkStart;
    if (from >= 0) return this.#chunk.slice(from, to);
    const carriedFrom = from + this.#carried.length;
    if (carriedFrom < 0) return undefined;
    return to <= 0
      ? this.#carried.slice(carriedFrom, to + this.#carried.length)
      : this.#carried.slice(carriedFrom) + this.#chunk.slice(0, to);
  }

  #nameAt(start: number, end: number): XmlName {
    const text = this.#slice(start, end) ?? '';
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const full = text.toLowerCase();
    const colon = full.lastIndexOf(':');
    const name = { full, prefix: full.slice(0, Math.max(0, colon)), local: full.slice(colon + 1) };
    if (this.#names.size < MAX_NAMES) this.#names.set(text, name);
    return name;
  }
}
