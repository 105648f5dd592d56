import { counted } from '../../../shared/control/format.ts';
import type { Line } from '../text/output.ts';
import type { PageFacts, StepFacts, TrialLink } from './trial.ts';
import { waitingText } from './waiting-joins.ts';

/** Maximum number of rows shown of each kind. `--json` has all. */
const MOST_ROWS = 20;
/** Maximum number of characters shown of a body. */
const MOST_BODY = 200;
const WHY = {
  scope: 'out of scope',
  depth: 'too deep',
  condition: 'condition not met',
  nofollow: 'nofollow, by the page',
  url: 'no http or https URL',
} as const;

/** Describes a page, for people. */
export function pageLines(page: PageFacts): Line[] {
  const { url, redirects, status, contentType, bytes, title, canonical, links, article } = page;
  return [
    url,
    ...redirects.map((to) => `  redirected to ${to}`),
    `  HTTP ${status}, ${contentType ?? 'no content type'}, ${bytes} bytes`,
    ...(title === null ? [] : [`  title: ${title}`]),
    ...(canonical === null ? [] : [`  canonical: ${canonical}`]),
    `  links: ${links}`,
    ...(article === null
      ? []
      : [`  article: ${article.characters} characters${article.title === null ? '' : `, ${article.title}`}`]),
  ];
}

/**
 * Describes what a crawler makes of a page.
 *
 * @param others the crawler's other steps, suggested if this one finds nothing
 */
export function stepLines(
  { crawler, step, items, follows, leftOut, isCut, joins }: StepFacts,
  others: readonly string[],
): Line[] {
  const hasNothing = items.length + follows.length + leftOut.length === 0;
  const cut = isCut ? ['Some links are left out: there are too many, or they are too long.'] : [];
  return [
    '',
    step === undefined ? `Crawler ${crawler}` : `Crawler ${crawler}, step ${step}`,
    ...group(
      'emits',
      'item',
      items.map((item) => JSON.stringify(item)),
    ),
    ...group('follows', 'link', follows.map(linkText)),
    ...(leftOut.length === 0
      ? []
      : group(
          'leaves out',
          'link',
          leftOut.map((link) => `${linkText(link)}  ${WHY[link.reason]}${link.condition ? `: ${link.condition}` : ''}`),
        )),
    ...cut,
    ...(joins === undefined ? [] : group('joins', 'join', joins.map(waitingText))),
    ...(hasNothing && others.length > 0 ? [`Is the page for another step? Try --step with ${others.join(', ')}`] : []),
  ];
}

/** Lists the elements that a selector finds. */
export function selectionLines(css: string, texts: readonly string[]): Line[] {
  return ['', ...group(css, 'element', texts)];
}

function group(verb: string, noun: string, rows: readonly string[]): string[] {
  const count = rows.length === 0 ? `no ${noun}s` : counted(rows.length, noun);
  const more = rows.length > MOST_ROWS ? [`  … and ${rows.length - MOST_ROWS} more (--json shows all)`] : [];
  return [`${verb}: ${count}`, ...rows.slice(0, MOST_ROWS).map((row) => `  ${row}`), ...more];
}

function linkText({ step, url, kept, request }: TrialLink): string {
  const { method, body } = request ?? {};
  const named = [step === undefined ? '' : `${step}  `, method === undefined ? '' : `${method} `, url];
  const sends = body === undefined ? '' : `  sends ${body.length > MOST_BODY ? `${body.slice(0, MOST_BODY)}…` : body}`;
  return `${named.join('')}${sends}${kept === undefined ? '' : `  keeps ${JSON.stringify(kept)}`}`;
}
