import type { OpenElements } from './open-elements.ts';
import { closeOpenTable, isInTable, startTablePart } from './table-parts.ts';
import {
  A,
  ADDRESS,
  BUTTON,
  DD,
  DIV,
  DT,
  FORM,
  LI,
  OPTGROUP,
  OPTION,
  P,
  SELECT,
  TABLE,
  TEMPLATE,
} from './tag-codes.ts';
import {
  BUTTON_SCOPE,
  CLOSED_IN_SCOPE,
  CLOSES_P,
  classesOf,
  FOREIGN,
  FORMATTING,
  HEADING,
  IMPLIED_END,
  LIST_SCOPE,
  MARKER,
  OWN_RULE,
  RAW_TEXT,
  SCOPE,
  SPECIAL,
  TABLE_PART,
  TABLE_SCOPE,
  type TagCode,
  tagCode,
  VOID,
} from './tags.ts';

const NOBR = tagCode('nobr');

/**
 * Decides which elements the tags of HTML open and close (HTML standard, section 13.2.6.4). Leaves out two things: moving elements in the
 * tree, and reopening formatting elements after the paragraph they were in has ended.
 */
export class HtmlElements {
  readonly #open: OpenElements;
  /** Whether a form is open that no `</form>` has ended. No other form can begin then. */
  #hasForm = false;

  constructor(open: OpenElements) {
    this.#open = open;
  }

  start(code: TagCode, classes: number): void {
    const open = this.#open;
    if ((classes & OWN_RULE) !== 0 && !this.#makeRoom(code, classes)) return;
    if ((classes & CLOSES_P) !== 0 && open.hasParagraph) this.#closeParagraph();
    if ((classes & HEADING) !== 0 && (open.classes & HEADING) !== 0) open.pop();
    if ((classes & (VOID | RAW_TEXT)) !== 0) return;
    open.push(code, classes);
    // Directly in a table, a form is always empty.
    if (code === FORM && isInTable(open)) open.pop();
  }

  end(code: TagCode): void {
    const open = this.#open;
    // The usual case.
    if (open.code === code && !open.isForeign && code !== FORM) open.pop();
    else this.#search(code, classesOf(code));
  }

  /** Finds the element that the end tag closes, if that isn't the innermost one. */
  #search(code: TagCode, classes: number): void {
    const open = this.#open;
    if (!open.mayHave(code) && (classes & HEADING) === 0 && code !== FORM) return;
    if ((classes & FORMATTING) !== 0) this.#closeFormatting(open.indexOf(code, SCOPE));
    else if ((classes & CLOSED_IN_SCOPE) !== 0) this.#close(open.indexOf(code, SCOPE));
    else if (code === TEMPLATE) this.#close(open.indexOf(TEMPLATE, 0));
    else if ((classes & (TABLE_PART | TABLE_SCOPE)) !== 0) this.#close(open.indexOf(code, TABLE_SCOPE));
    else if ((classes & HEADING) !== 0) this.#close(open.indexOfClass(HEADING, SCOPE));
    else if (code === P) this.#closeParagraph();
    else if (code === LI) this.#close(open.indexOf(LI, SCOPE | LIST_SCOPE));
    else if (code === FORM) this.#endForm();
    else if ((classes & VOID) === 0) this.#close(open.indexOf(code, SPECIAL));
  }

  /** Closes the elements that a start tag with a rule of its own ends. Returns `false` if the caller must not open its element. */
  #makeRoom(code: TagCode, classes: number): boolean {
    const open = this.#open;
    if ((classes & TABLE_PART) !== 0) {
      startTablePart(open, code);
      return false;
    }
    switch (code) {
      case A:
        if (open.hasAnchor) this.#closeAnchor();
        return true;
      case LI:
        this.#closeItem(LI, LI);
        return true;
      case DD:
      case DT:
        this.#closeItem(DD, DT);
        return true;
      case OPTION:
      case OPTGROUP:
        if (open.code === OPTION && !open.isForeign) open.pop();
        return true;
      case BUTTON:
        this.#close(open.indexOf(BUTTON, SCOPE));
        return true;
      case NOBR:
        this.#closeFormatting(open.indexOf(NOBR, SCOPE));
        return true;
      case TABLE:
        closeOpenTable(open);
        return true;
      case SELECT: {
        const index = open.indexOf(SELECT, SCOPE);
        this.#close(index);
        return index === 0;
      }
      case FORM: {
        const isFirst = !this.#hasForm;
        if (!open.isInTemplate) this.#hasForm = true;
        return isFirst || open.isInTemplate;
      }
      default:
        // html, head, body and frame are never on the stack.
        return false;
    }
  }

  #close(index: number): void {
    if (index > 0) this.#open.popFrom(index);
  }

  #closeParagraph(): void {
    this.#close(this.#open.indexOf(P, SCOPE | BUTTON_SCOPE));
  }

  #closeFormatting(index: number): void {
    if (index > 0) this.#open.adopt(index);
  }

  /** Closes the link around a new one. */
  #closeAnchor(): void {
    const open = this.#open;
    const index = open.indexOf(A, MARKER);
    if (index === 0) return;
    if (open.indexOf(A, SCOPE) === index) open.adopt(index);
    else open.remove(index);
  }

  /** Closes the list item before a new one. */
  #closeItem(code: TagCode, other: TagCode): void {
    const open = this.#open;
    for (let index = open.innermost; index > 0; index--) {
      const [at, classes] = [open.codeAt(index), open.classesAt(index)];
      const isHtml = (classes & FOREIGN) === 0;
      if (isHtml && (at === code || at === other)) {
        open.popFrom(index);
        return;
      }
      const mayStandBetween = isHtml && (at === ADDRESS || at === DIV || at === P);
      if ((classes & SPECIAL) !== 0 && !mayStandBetween) return;
    }
  }

  /** Handles `</form>`, which closes the form but not the elements inside it. */
  #endForm(): void {
    const open = this.#open;
    const index = open.indexOf(FORM, SCOPE);
    if (open.isInTemplate) {
      this.#close(index);
      return;
    }
    if (this.#hasForm && index > 0) {
      while ((open.classes & IMPLIED_END) !== 0) open.pop();
      open.remove(index);
    }
    this.#hasForm = false;
  }
}
