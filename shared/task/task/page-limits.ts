/*
 * Upper bounds for what a worker keeps of one page, whatever the page contains. The record lists the parts that were cut in
 * `truncated`.
 */

/** The parts of a page that can be cut. `tree`: the elements that a page's tools see. */
export const PAGE_PARTS = ['title', 'canonical', 'links', 'tree', 'content'] as const;
export type PagePart = (typeof PAGE_PARTS)[number];

/** Maximum links per page. The first ones are kept. */
export const MAX_LINKS = 10_000;
/** Maximum characters of all links of a page together. Links are ASCII, so this is also their size in bytes. */
export const MAX_LINKS_LENGTH = 1024 ** 2;
/** Maximum characters of one link or canonical URL, absolute and without its fragment. Longer ones are dropped. */
export const MAX_LINK_LENGTH = 2_048;
/** Maximum characters of all links from one call of a page's tools: with a long `<base>`, short links become long. The first ones are kept. */
export const MAX_FOUND_LINKS_LENGTH = 16 * 1024 ** 2;
/** Maximum characters of the URL in `<base>`. A longer one is ignored: links are then relative to the page. */
export const MAX_BASE_LENGTH = 2_048;
/** Maximum characters of an attribute's value, before its entities are decoded. A longer one is not read. */
export const MAX_ATTRIBUTE_LENGTH = 65_536;
/** Maximum characters of a title. The beginning is kept. */
export const MAX_TITLE_LENGTH = 2_000;
/** Maximum bytes of a record as a line of JSON in UTF-8. The page's content is cut to fit. */
export const MAX_RECORD_BYTES = 4 * 1024 ** 2;
/** Maximum elements of a page that its tools see. The rest of the page is left out. */
export const MAX_TREE_ELEMENTS = 200_000;
/** Maximum nesting of elements that the tools see, as in browsers. In HTML, deeper elements become children of the deepest allowed one. */
export const MAX_TREE_DEPTH = 512;
/** Maximum elements and texts of a page that become markdown, and maximum cells of its tables, those that others span included. */
export const MAX_MARKDOWN_NODES = 50_000;
/** Maximum characters of text that become markdown. The rest is left out. */
export const MAX_MARKDOWN_TEXT = 1024 ** 2;
/** Maximum characters that quotes and lists put in front of the lines of markdown, each times their depth. The rest is left out. */
export const MAX_MARKDOWN_INDENTATION = 16 * 1024 ** 2;
/** Maximum characters of the addresses in markdown: with a long `<base>`, short ones become long. The rest is left out. */
export const MAX_MARKDOWN_ADDRESSES = 4 * 1024 ** 2;
/** Budget for reading a page's marked-up objects: characters, plus a cost for each element and object. The rest is left out. */
export const MAX_MICRODATA = 16 * 1024 ** 2;
/** Cost of an element or a text against {@link MAX_MICRODATA}. */
export const MICRODATA_NODE = 16;
/** Cost of an object against {@link MAX_MICRODATA}. */
export const MICRODATA_OBJECT = 128;
/** Maximum nesting of marked-up objects. Deeper ones are left out. */
export const MAX_MICRODATA_DEPTH = 64;
