import { A, P, TEMPLATE } from './tag-codes.ts';
import {
  COUNTED,
  FOREIGN,
  FORMATTING,
  HIDDEN,
  HTML_INTEGRATION,
  MATH_TEXT_INTEGRATION,
  SHADOW_ROOT,
  SPECIAL,
  type TagCode,
} from './tags.ts';

/** Maximum open elements. Beyond that, the outermost are dropped, which only their own end tags would still need. */
const MOST_OPEN = 256;
const FORGOTTEN = 128;
/** Open elements are counted by the last bits of their codes, so that most searches for one that isn't open are skipped. */
const BUCKETS = 64;

/**
 * The stack of open elements (HTML standard, section 13.2.4.2). Holds the code and the classes of each element, as defined in `tags.ts`, but
 * never `html`, `head` or `body`, because no tag closes them.
 *
 * The stack is bounded, and so is the cost of a tag, however deep a page nests.
 */
export class OpenElements {
  /** Index 0 is the root, which is never removed. */
  readonly #codes: TagCode[] = [0];
  readonly #classes: number[] = [0];
  readonly #buckets: number[] = new Array<number>(BUCKETS).fill(0);
  #paragraphs = 0;
  #anchors = 0;
  #templates = 0;
  #shadowRoots = 0;
  #hidden = 0;

  /** Code of the innermost element; 0 if only the root is open. */
  get code(): TagCode {
    return this.codeAt(this.innermost);
  }

  get classes(): number {
    return this.classesAt(this.innermost);
  }

  /** Returns `false` only if no element of this name is open. */
  mayHave(code: TagCode): boolean {
    return this.#buckets[code & (BUCKETS - 1)] !== 0;
  }

  /** Index of the innermost element. */
  get innermost(): number {
    return this.#codes.length - 1;
  }

  /** Whether the innermost element is one of SVG or MathML. */
  get isForeign(): boolean {
    return (this.classes & FOREIGN) !== 0;
  }

  /** Whether CDATA sections exist here: in SVG and MathML, except directly in their elements that contain HTML. */
  get allowsCdata(): boolean {
    const { classes } = this;
    return (classes & FOREIGN) !== 0 && (classes & (HTML_INTEGRATION | MATH_TEXT_INTEGRATION)) === 0;
  }

  get isInTemplate(): boolean {
    return this.#templates > 0;
  }

  /** Whether this is inside a template whose content isn't part of the page. */
  get isInert(): boolean {
    return this.#templates > this.#shadowRoots;
  }

  /** Whether this is inside an element that isn't shown. */
  get isHidden(): boolean {
    return this.#hidden > 0;
  }

  get hasParagraph(): boolean {
    return this.#paragraphs > 0;
  }

  get hasAnchor(): boolean {
    return this.#anchors > 0;
  }

  codeAt(index: number): TagCode {
    return this.#codes[index] ?? 0;
  }

  classesAt(index: number): number {
    return this.#classes[index] ?? 0;
  }

  push(code: TagCode, classes: number): void {
    if (this.innermost === MOST_OPEN) this.#forget();
    this.#codes.push(code);
    this.#classes.push(classes);
    this.#count(code, classes, 1);
  }

  pop(): void {
    this.#count(this.code, this.classes, -1);
    this.#codes.pop();
    this.#classes.pop();
  }

  /** Pops the element at this index and all elements inside it. */
  popFrom(index: number): void {
    while (this.innermost >= index) this.pop();
  }

  /** Removes one element; those inside stay open. */
  remove(index: number): void {
    this.#count(this.codeAt(index), this.classesAt(index), -1);
    this.#codes.splice(index, 1);
    this.#classes.splice(index, 1);
  }

  /** Returns the index of the innermost HTML element of this name; 0 if there is none, or an element of the classes `barrier` comes first. */
  indexOf(code: TagCode, barrier: number): number {
    for (let index = this.innermost; index > 0; index--) {
      const classes = this.classesAt(index);
      if (this.#codes[index] === code && (classes & FOREIGN) === 0) return index;
      if ((classes & barrier) !== 0) return 0;
    }
    return 0;
  }

  /** Returns the index of the innermost HTML element of these classes; 0 if there is none, or one of the classes `barrier` comes first. */
  indexOfClass(wanted: number, barrier: number): number {
    for (let index = this.innermost; index > 0; index--) {
      const classes = this.classesAt(index);
      if ((classes & wanted) !== 0 && (classes & FOREIGN) === 0) return index;
      if ((classes & barrier) !== 0) return 0;
    }
    return 0;
  }

  /**
   * Closes a formatting element as the adoption agency algorithm does (section 13.2.6.4.7). Special elements inside it stay open,
   * and so do the formatting elements around those.
   */
  adopt(index: number): void {
    let last = this.innermost;
    while (last > index && (this.classesAt(last) & SPECIAL) === 0) last--;
    this.popFrom(last + 1);
    for (let at = last; at > index; at--) if ((this.classesAt(at) & (SPECIAL | FORMATTING)) === 0) this.remove(at);
    this.remove(index);
  }

  /** Drops the outermost elements. */
  #forget(): void {
    for (let index = 1; index <= FORGOTTEN; index++) this.#count(this.codeAt(index), this.classesAt(index), -1);
    this.#codes.splice(1, FORGOTTEN);
    this.#classes.splice(1, FORGOTTEN);
  }

  #count(code: TagCode, classes: number, by: 1 | -1): void {
    const bucket = code & (BUCKETS - 1);
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + by;
    if ((classes & COUNTED) === 0) return;
    if ((classes & HIDDEN) !== 0) this.#hidden += by;
    if ((classes & FOREIGN) !== 0) return;
    if (code === P) this.#paragraphs += by;
    else if (code === A) this.#anchors += by;
    else if (code === TEMPLATE) this.#templates += by;
    if ((classes & SHADOW_ROOT) !== 0) this.#shadowRoots += by;
  }
}
