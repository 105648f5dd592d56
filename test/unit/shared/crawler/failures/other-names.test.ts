import { expect, test } from 'vitest';
import { meantBy } from '../../../../../shared/crawler/failures/other-names.ts';

/** Names that other libraries use. */
type Elsewhere = Readonly<
  Record<'css' | 'querySelectorAll' | 'getAttribute' | 'title' | 'text' | 'find' | 'enqueueLinks', () => unknown>
> & { first(css: string): Elsewhere };

/** Has only `first`, so any other call throws V8's own message. */
const page = { first: () => page } as unknown as Elsewhere;
const [links, context] = [page, page];
const $ = undefined as unknown as (css: string) => unknown;

const ELEMENTS = "page.get('h1') is a text, page.attr('a', 'href') an attribute, page.all('li') are elements";
const VALUE = 'it is a value, to be written without brackets';

// biome-ignore format: a table
test.each<[string, () => unknown, string | undefined]>([
  ["Scrapy's css",                       () => page.css(),                  ELEMENTS],
  ["Cheerio's $",                        () => $('h1'),                     ELEMENTS],
  ["a browser's querySelectorAll",       () => page.querySelectorAll(),     "page.all('li') are the elements"],
  ["an element's getAttribute",          () => page.first('a').getAttribute(), "element.attr('href') is an attribute"],
  ["Crawlee's enqueueLinks",             () => context.enqueueLinks(),      "follow('product', page.links('a.product')), which a step gets with its page"],
  ["Puppeteer's title()",                () => page.title(),                VALUE],
  ["Cheerio's text()",                   () => page.first('h1').text(),     VALUE],
  ['find on no list, which has no hint', () => links.find(),                undefined],
])('a call of %s gets a hint to what Trawl has instead', (_, call, said) => {
  expect(call).toThrow(TypeError);
  try {
    call();
  } catch (error: unknown) {
    expect(meantBy(error as Error)).toBe(said);
  }
});
