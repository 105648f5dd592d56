/*
 * Authors who come from another library may call its methods. The error then names the equivalent here.
 */

const ELEMENTS = "page.get('h1') is a text, page.attr('a', 'href') an attribute, page.all('li') are elements";
const FIRST = "page.first('h1') is the first element";
const ALL = "page.all('li') are the elements";
const FOLLOW = "follow('product', page.links('a.product')), which a step gets with its page";
const VALUE = 'it is a value, to be written without brackets';

/** Equivalents of names from Scrapy, Crawlee and browsers. */
const ANYWHERE = namesOf({
  [FIRST]: ['querySelector', 'getElementById', 'select_one'],
  [ALL]: ['querySelectorAll', 'getElementsByTagName', 'getElementsByClassName', 'find_all'],
  "element.attr('href') is an attribute": ['getAttribute'],
  "page.all('li').map((element) => element.text) are the texts": ['getall'],
  [FOLLOW]: ['enqueueLinks', 'addRequests', 'follow_all'],
  'emit({ … }), which a step gets with its page': ['pushData'],
  'page.resolve(link)': ['urljoin'],
});
/** Names that other objects can have as well, so they count only on a page. */
const OF_PAGES = namesOf({
  [ELEMENTS]: ['css', '$', '$$', 'select', 'selectAll', 'find'],
  [VALUE]: ['title', 'url', 'text', 'status', 'headers', 'body', 'contentType', 'article'],
});
const OF_ELEMENTS = namesOf({ [VALUE]: ['text', 'html', 'name'] });
/** V8's message: `page.first(...).text is not a function`. */
const NO_FUNCTION = /^(?:(.{1,200})\.)?([\w$]{1,40}) is not a function$/;

/** Returns what a crawler's author probably meant by calling a method that doesn't exist; undefined if unknown. */
export function meantBy(error: Error): string | undefined {
  const [, of = '', name = ''] = (error instanceof TypeError && NO_FUNCTION.exec(error.message)) || [];
  const isPage = of === 'page' || of === 'response' || name === '$';
  return ANYWHERE.get(name) ?? (isPage ? OF_PAGES : of.endsWith('first(...)') ? OF_ELEMENTS : undefined)?.get(name);
}

function namesOf(byMeaning: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(byMeaning).flatMap(([meaning, names]) => names.map((name) => [name, meaning] as const)),
  );
}
