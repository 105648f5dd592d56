/*
 * Upper bounds for what a worker keeps of one page, whatever the page contains. The record names the parts that were cut, in
 * `truncated`.
 */

/** The parts of a page that can be cut. `tree`: what the tools of a page see. */
export const PAGE_PARTS = ['title', 'canonical', 'links', 'tree', 'content'] as const;
export type PagePart = (typeof PAGE_PARTS)[number];

/** Links per page. The first ones are kept. */
export const MAX_LINKS = 10_000;
/** Characters of all links of a page together. They are ASCII, so these are bytes, too. */
export const MAX_LINKS_LENGTH = 1024 ** 2;
/** Characters of one link or canonical URL, absolute and without its fragment. A longer one is dropped. */
export const MAX_LINK_LENGTH = 2_048;
/** Characters of all links that one call of a page's tools gives: a long `<base>` makes much of little. The first ones are kept. */
export const MAX_FOUND_LINKS_LENGTH = 16 * 1024 ** 2;
/** Characters of the URL in `<base>`. A longer one is ignored: links are then relative to the page. */
export const MAX_BASE_LENGTH = 2_048;
/** Characters of an attribute's value, before its entities are decoded. A longer one is not read. */
export const MAX_ATTRIBUTE_LENGTH = 65_536;
/** Characters of a title. The beginning is kept. */
export const MAX_TITLE_LENGTH = 2_000;
/** Bytes of a record as a line of JSON in UTF-8. The page's content is cut to fit. */
export const MAX_RECORD_BYTES = 4 * 1024 ** 2;
/** Elements of a page that its tools see. The rest of the page is left out. */
export const MAX_TREE_ELEMENTS = 200_000;
/** Elements in each other that the tools see, as in browsers. In HTML, deeper ones count as children of the deepest. */
export const MAX_TREE_DEPTH = 512;
/** Elements and texts of a page that become markdown. The rest is left out. */
export const MAX_MARKDOWN_NODES = 50_000;
/** Characters of text that become markdown. The rest is left out. */
export const MAX_MARKDOWN_TEXT = 1024 ** 2;
/** What is read of a page's marked up objects: characters, and what elements and objects cost. The rest is left out. */
export const MAX_MICRODATA = 16 * 1024 ** 2;
/** What an element or a text costs of {@link MAX_MICRODATA}. */
export const MICRODATA_NODE = 16;
/** What an object costs of it. */
export const MICRODATA_OBJECT = 128;
/** Marked up objects in each other. Deeper ones are left out. */
export const MAX_MICRODATA_DEPTH = 64;
