import { FIRST_STEP } from '../task/url/fingerprint.ts';
import { mediaTypeOf, type Page } from './page.ts';

/** What a step makes of a page. */
export interface StepResult {
  /** Goes into the record as it is; anything that JSON can say. */
  readonly data?: unknown;
  /** Links to follow, if the run follows links. Left out, all links of the page. */
  readonly links?: readonly string[];
}

/** One function of a crawler. It may be called twice for a page, after a crash: it returns what should happen. */
export type Step = (page: Page) => StepResult | Promise<StepResult>;

/** What to do with pages: a named module. Its first step gets the pages of seeds and of followed links. */
export interface Crawler {
  readonly name: string;
  readonly step: Step;
  /** Is a page of this kind wanted? Asked before its body is read. Left out: text, HTML, XML and JSON. */
  readonly accepts?: (contentType: string | undefined) => boolean;
}

/** The step of a crawler that a task is for; nothing if it has none of that name. */
export function stepNamed({ step }: Crawler, name: string): Step | undefined {
  return name === FIRST_STEP ? step : undefined;
}

/** Says what a crawler is, with its types checked. */
export function defineCrawler(crawler: Crawler): Crawler {
  return crawler;
}

/** The kinds of page that have something to read. A missing type is let through. */
export function acceptsText(contentType: string | undefined): boolean {
  const type = mediaTypeOf(contentType);
  if (type === undefined) return true;
  return type.startsWith('text/') || /^application\/(?:[\w.-]+\+)?(?:xml|json|xhtml\+xml)$/.test(type);
}
