import { FIRST_STEP } from '../task/url/fingerprint.ts';
import { mediaTypeOf } from './media-type.ts';
import type { Page } from './page.ts';

/** What a step returns for a page. */
export interface StepResult {
  /** Goes into the record unchanged; any value that JSON can express. */
  readonly data?: unknown;
  /** Links to follow, if the run follows links. Default: all links of the page. */
  readonly links?: readonly string[];
}

/** One function of a crawler. After a crash it may be called again for a page, so it should have no side effects. */
export type Step = (page: Page) => StepResult | Promise<StepResult>;

/** What to do with pages: a named module. Its first step gets the pages of seeds and of followed links. */
export interface Crawler {
  readonly name: string;
  readonly step: Step;
  /** Should a page of this type be read? Called before its body is read. Default: text, HTML, XML and JSON. */
  readonly accepts?: (contentType: string | undefined) => boolean;
}

/** The step of a crawler with this name; nothing if it has none. */
export function stepNamed({ step }: Crawler, name: string): Step | undefined {
  return name === FIRST_STEP ? step : undefined;
}

/** Defines a crawler, with its types checked. */
export function defineCrawler(crawler: Crawler): Crawler {
  return crawler;
}

/** Accepts the types of page that contain text. A missing type is accepted. */
export function acceptsText(contentType: string | undefined): boolean {
  const type = mediaTypeOf(contentType);
  if (type === undefined) return true;
  return type.startsWith('text/') || /^application\/(?:[\w.-]+\+)?(?:xml|json|xhtml\+xml)$/.test(type);
}
