import { decodeBody } from '../charset.ts';
import type { FetchedPage } from '../fetcher.ts';
import { forbidsFollowing } from '../task/robots-directives.ts';
import type { Task } from '../task/task.ts';
import { type Document, NO_DOCUMENT, readDocument, readText } from './document.ts';

/** A fetched page, as a crawler sees it. What is asked for is worked out once, and only then. */
export class Page {
  readonly task: Task;
  readonly #fetched: FetchedPage;
  #text: string | undefined;
  #document: Document | undefined;
  #isNofollow: boolean | undefined;

  constructor(task: Task, fetched: FetchedPage) {
    this.task = task;
    this.#fetched = fetched;
  }

  /** Where it was found, after redirects. */
  get url(): string {
    return this.#fetched.finalUrl;
  }

  get status(): number {
    return this.#fetched.status;
  }

  /** Names in lower case. */
  get headers(): Readonly<Record<string, string>> {
    return this.#fetched.headers;
  }

  /** The media type, without parameters, in lower case; nothing if the server didn't say. */
  get contentType(): string | undefined {
    return mediaTypeOf(this.#fetched.headers['content-type']);
  }

  get body(): Uint8Array {
    return this.#fetched.body;
  }

  /** The body as text, by its BOM, header or meta charset. */
  get text(): string {
    this.#text ??= decodeBody(this.#fetched.body, this.#fetched.headers['content-type']).text;
    return this.#text;
  }

  /** The text of `<title>`; null without one, or if the page isn't HTML. */
  get title(): string | null {
    return this.#read().title;
  }

  /** The absolute links of an HTML page, each once. */
  get links(): readonly string[] {
    return this.#read().links;
  }

  /** The address that the page itself names for what it shows; null without one. */
  get canonical(): string | null {
    return this.#read().canonical;
  }

  /** `false` if the page asks, in its head, its headers or the link itself, that the link is not followed. */
  mayFollow(link: string): boolean {
    this.#isNofollow ??= this.#read().isNofollow || forbidsFollowing(this.headers['x-robots-tag'] ?? '');
    return !this.#isNofollow && !this.#read().nofollow.has(link);
  }

  /** The text that a reader sees; of a page that isn't HTML, all of it. */
  get readableText(): string {
    return isHtml(this.contentType) ? readText(this.text) : this.text;
  }

  #read(): Document {
    this.#document ??= isHtml(this.contentType) ? readDocument(this.text, this.url) : NO_DOCUMENT;
    return this.#document;
  }
}

export function mediaTypeOf(contentType: string | undefined): string | undefined {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() || undefined;
}

/** A page without a type is taken for HTML: servers that forget it mostly serve just that. */
function isHtml(mediaType: string | undefined): boolean {
  return mediaType === undefined || mediaType === 'text/html' || mediaType === 'application/xhtml+xml';
}
