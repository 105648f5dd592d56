/**
 * A tag's name as a number, so that no string is made: the 32-bit FNV-1a hash of the name in lower case. A test checks that the names of
 * HTML, SVG and MathML have different codes. A page that makes up a name with the code of another only hurts itself.
 */
export type TagCode = number;

const FNV_OFFSET = 0x811c9dc5 | 0;
const FNV_PRIME = 0x01000193;

/** The code of the empty name, to start {@link addToCode} with. */
export const NO_CODE: TagCode = FNV_OFFSET;

/** Returns the code of a name with one more character. */
export function addToCode(code: TagCode, charCode: number): TagCode {
  const lower = charCode >= 0x41 && charCode <= 0x5a ? charCode + 0x20 : charCode;
  return Math.imul(code ^ lower, FNV_PRIME);
}

export function tagCode(name: string): TagCode {
  let code = NO_CODE;
  for (let at = 0; at < name.length; at++) code = addToCode(code, name.charCodeAt(at));
  return code;
}

/*
 * Classes of elements, as bits. Those up to `IMPLIED_END` follow from the name (HTML standard, section 13.2.6); the others describe
 * an element that is open.
 */
export const VOID = 1 << 0;
export const SPECIAL = 1 << 1;
export const FORMATTING = 1 << 2;
export const HEADING = 1 << 3;
/** Ignored outside a table. */
export const TABLE_PART = 1 << 4;
/** Its start tag closes an open `p`. */
export const CLOSES_P = 1 << 5;
/** Its end tag closes the innermost such element in scope, with all open elements inside it. */
export const CLOSED_IN_SCOPE = 1 << 6;
/** Elements that end the search for an open one: in general, for a `p`, an `li`, a part of a table, a formatting element. */
export const SCOPE = 1 << 7;
export const BUTTON_SCOPE = 1 << 8;
export const LIST_SCOPE = 1 << 9;
export const TABLE_SCOPE = 1 << 10;
export const MARKER = 1 << 11;
/** Its start tag ends the SVG or MathML around it. */
export const BREAKS_OUT = 1 << 12;
/** After it, a `frameset` is ignored. */
export const ENDS_FRAMESET_OK = 1 << 13;
/** Its content is text up to its end tag. */
export const RAW_TEXT = 1 << 14;
/** Its start tag has a rule of its own. */
export const OWN_RULE = 1 << 15;
/** Its content is not shown. */
export const HIDDEN = 1 << 16;
/** Begins and ends a line of the readable text. */
export const LINE = 1 << 17;
/** `OpenElements` counts how many are open. */
export const COUNTED = 1 << 18;
/** Closed without an end tag. */
export const IMPLIED_END = 1 << 19;

export const SVG_ELEMENT = 1 << 20;
export const MATH_ELEMENT = 1 << 21;
export const FOREIGN = SVG_ELEMENT | MATH_ELEMENT;
/** Elements of SVG or MathML that contain HTML. */
export const HTML_INTEGRATION = 1 << 22;
export const MATH_TEXT_INTEGRATION = 1 << 23;
export const ANNOTATION = 1 << 24;
/** A template whose content is part of the page. */
export const SHADOW_ROOT = 1 << 25;

const NAMES: readonly (readonly [classes: number, names: string])[] = [
  [VOID, 'area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr'],
  [
    SPECIAL,
    `address applet area article aside base basefont bgsound blockquote br button caption center col colgroup dd details
    dir div dl dt embed fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr iframe img input keygen
    li link listing main marquee menu meta nav noembed noframes noscript object ol p param plaintext pre script search
    section select source style summary table tbody td template textarea tfoot th thead title tr track ul wbr xmp`,
  ],
  [FORMATTING, 'a b big code em font i nobr s small strike strong tt u'],
  [HEADING, 'h1 h2 h3 h4 h5 h6'],
  [TABLE_PART, 'caption col colgroup tbody td tfoot th thead tr'],
  [
    CLOSES_P,
    `address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2
    h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp`,
  ],
  [
    CLOSED_IN_SCOPE,
    `address applet article aside blockquote button center dd details dialog dir div dl dt fieldset figcaption figure
    footer header hgroup listing main marquee menu nav object ol pre search section select summary ul`,
  ],
  [SCOPE, 'applet caption marquee object select table td template th'],
  [BUTTON_SCOPE, 'button'],
  [LIST_SCOPE, 'ol ul'],
  [TABLE_SCOPE, 'table template'],
  [MARKER, 'applet caption marquee object td template th'],
  [
    BREAKS_OUT,
    `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr
    ol p pre ruby s small span strike strong sub sup table tt u ul var`,
  ],
  [
    ENDS_FRAMESET_OK,
    `applet area body br button dd dt embed hr iframe image img input keygen li listing marquee object pre select table
    textarea wbr xmp`,
  ],
  [RAW_TEXT, 'iframe noembed noframes script style textarea title xmp'],
  [
    OWN_RULE,
    `a body button caption col colgroup dd dt form frame head html li nobr optgroup option select table tbody td tfoot th
    thead tr`,
  ],
  [HIDDEN, 'noscript template'],
  [
    LINE,
    `address article aside blockquote br caption center dd details dialog dir div dl dt fieldset figcaption figure footer form
    h1 h2 h3 h4 h5 h6 header hgroup hr legend li listing main menu nav ol optgroup option p pre search section summary
    table td th tr ul`,
  ],
  [COUNTED, 'a noscript p template'],
  [IMPLIED_END, 'dd dt li optgroup option p rb rp rt rtc'],
];

const CLASSES = new Map<TagCode, number>();
for (const [classes, names] of NAMES) {
  for (const code of names.split(/\s+/).map(tagCode)) CLASSES.set(code, (CLASSES.get(code) ?? 0) | classes);
}

/** Returns the classes of HTML elements with this name. */
export function classesOf(code: TagCode): number {
  return CLASSES.get(code) ?? 0;
}
