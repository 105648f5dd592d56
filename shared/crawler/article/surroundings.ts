import type { Element } from 'domhandler';

/** Whether an element is outside the article. `perhaps` means yes, unless it has much of the page's text, or code or a table. */
export type Verdict = 'no' | 'perhaps' | 'yes';

/** Two verdicts on an element: by its name and role, and by the words in its classes. */
export interface Verdicts {
  readonly byName: Verdict;
  readonly byWords: Verdict;
}

const NAMES: ReadonlySet<string> = words('nav dialog menu input datalist embed');
const PERHAPS_NAMES: ReadonlySet<string> = words('aside footer header');
const ROLES: ReadonlySet<string> = words('navigation search dialog alertdialog menu menubar toolbar tooltip');
const PERHAPS_ROLES: ReadonlySet<string> = words('complementary contentinfo banner');
/** Elements that are content, or contain all of it, whatever their classes: those only describe their look. */
const CONTENT: ReadonlySet<string> = words('html body main pre code table thead tbody tr td th dt dd h1 math');
const CONTENT_ROLES: ReadonlySet<string> = words('main article note doc-endnotes doc-footnote doc-tip tabpanel math');
/** Words of a class or an id that put an element outside the article. */
const WORDS: ReadonlySet<string> = words(
  `ad ads advert adverts advertisement advertisements advertising adsense adslot adunit advertorial sponsor sponsored sponsors
  promo promos promotion promotions promoted outbrain taboola
  comment comments commentlist disqus replies respond trackbacks pingback webmention feedback rating ratings
  related relateds recirc recirculation recommended recommendation recommendations trending popular mostread mostpopular
  share shares sharing sharebar sharetools sharethis addthis addtoany sociable
  breadcrumb breadcrumbs navigation navbar navbox pager pagination toc tableofcontents skiplink skiplinks
  cookie cookies cookiebar consent gdpr modal popup popover tooltip
  newsletter newsletters subscribe subscription login signin signup
  editsection catlinks permalink printfooter infolinks hatnote`,
);
const PERHAPS_WORDS: ReadonlySet<string> = words(
  `sidebar sidebars aside rail right bottom extra supplemental skyscraper widget widgets
  foot footer masthead topbar banner menu menus nav navi toolbar utility
  social socials follow syndication tag tags tagcloud taglist links linklist more readmore
  byline author authors authorbox bio meta metadata postmeta timestamp dateline credit credits copyright disclaimer
  teaser teasers promobox carousel slideshow gallery upsell cta donate donation
  hide hidden invisible overlay noprint screenreader sronly discussion community`,
);
/** Beginnings of such words in compounds. */
const STEMS: readonly string[] = [
  ...words('relateda relatedc relatedp relateds recommend newslett breadcrumb sharebu sharei sharel socialsh'),
  ...words('advert commentb commentf commentl taboola outbrain disqus'),
];
/** Words for elements beside the text that belong to it. */
const BESIDE: ReadonlySet<string> = words(
  `admonition alert callout caution danger important info note notecard notes tip warning example tabpanel
  footnote footnotes endnotes sidenote marginnote pullquote embed tweet tweets`,
);
/** Elements whose ids describe their content. */
const IDENTIFIED: ReadonlySet<string> = words('div section aside header footer form ul ol');
/** Characters of a class, an id or a style that are read. */
const LONGEST = 256;

/** Classes of the section below a heading, which is part of a text. */
export const SECTION = /(?:^|\s)(?:section|sect\d|level\d)(?:\s|$)/;

/** Judges an element by its name, role, classes and id. */
export function verdictsOn(element: Element): Verdicts {
  const { name, attribs } = element;
  const role = attribs.role?.trim().toLowerCase() ?? '';
  if (NAMES.has(name) || ROLES.has(role)) return { byName: 'yes', byWords: 'yes' };
  const isContent = CONTENT.has(name) || CONTENT_ROLES.has(role) || attribs.itemprop?.toLowerCase() === 'articlebody';
  const said = isContent ? [] : wordsIn(element);
  if (said.some((word) => BESIDE.has(word))) return { byName: 'no', byWords: 'no' };
  const isPerhaps = !isContent && (PERHAPS_NAMES.has(name) || PERHAPS_ROLES.has(role));
  const isHidden = role !== 'tabpanel' && isHiddenBy(attribs);
  return { byName: isPerhaps || isHidden ? 'perhaps' : 'no', byWords: verdictOf(said) };
}

function verdictOf(said: readonly string[]): Verdict {
  if (said.some((word) => WORDS.has(word) || STEMS.some((stem) => word.startsWith(stem)))) return 'yes';
  return said.some((word) => PERHAPS_WORDS.has(word)) ? 'perhaps' : 'no';
}

/**
 * Returns the words of an element's classes and id; `postMeta` and `post-meta` give the same. The id of a heading, or of the section below
 * it, is often made from its text and means nothing here: `<section id="sharing-a-repository">`.
 */
function wordsIn({ name, attribs }: Element): readonly string[] {
  const classes = (attribs.class ?? '').slice(0, LONGEST);
  const hasId = IDENTIFIED.has(name) && !isSection(name, classes);
  const said = `${classes} ${hasId ? (attribs.id ?? '').slice(0, LONGEST) : ''}`;
  if (said === ' ') return [];
  return said
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z]+/);
}

function isSection(name: string, classes: string): boolean {
  return (name === 'section' && classes === '') || SECTION.test(classes);
}

function isHiddenBy(attribs: Element['attribs']): boolean {
  if (attribs.hidden !== undefined || attribs['aria-hidden'] === 'true') return true;
  if (attribs.style === undefined) return false;
  const style = attribs.style.slice(0, LONGEST).replaceAll(/\s+/g, '').toLowerCase();
  return style.includes('display:none') || style.includes('visibility:hidden');
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}
