import type { FieldsOfRecord } from '../task/task/fields.ts';
import type { FailedReason, SkippedReason } from '../task/task/outcome.ts';
import type { PagePart } from '../task/task/page-limits.ts';

/** The record of one task: one line of JSON in a sink. */
export type PageRecord = DoneRecord | EndedRecord;

interface RecordHead extends FieldsOfRecord {
  readonly run: string;
  /** The task's id. */
  readonly task: string;
  readonly crawler: string;
  /** Version of the crawler that ended the task, 8 hex digits. Absent if no crawler had it in hand. */
  readonly version?: string;
  readonly step: string;
  /** Without credentials, like all URLs in a record. */
  readonly url: string;
  /** If a task has several records, the one with the highest release counts. */
  readonly release: number;
  /** Number of attempts, including this one. */
  readonly attempt: number;
  readonly worker: string;
  /** ISO 8601. */
  readonly fetchedAt: string;
}

/** The fields kept for an article besides its text. */
export const ARTICLE_FIELDS = ['title', 'byline', 'published', 'language', 'excerpt'] as const;

/** A page's metadata about its article, as in `page.article`. Contains only what the page states. */
export type ArticleFacts = { readonly [Field in (typeof ARTICLE_FIELDS)[number]]?: string };

/** Where the main content of a page can come from: an article, otherwise its `<main>`, otherwise the whole page. */
export const CONTENT_PARTS = ['article', 'main', 'page'] as const;
export type ContentPart = (typeof CONTENT_PARTS)[number];

/** A page that was fetched. */
export interface DoneRecord extends RecordHead {
  readonly outcome: 'done';
  /** The task's original step, if a fallback has taken over. `step` is then the fallback. */
  readonly insteadOf?: string;
  readonly finalUrl: string;
  /** The URLs that redirects led to, the last one being `finalUrl`. Absent if there were none. */
  readonly redirects?: readonly string[];
  readonly status: number;
  readonly title: string | null;
  readonly contentType: string | null;
  /** SHA-256 of the body, hex. */
  readonly contentHash: string;
  /** Size of the body, decompressed. */
  readonly bytes: number;
  readonly durationMs: number;
  readonly fromCache: boolean;
  /** In an incremental run: the content has the same hash as at the last fetch. Absent if it doesn't. */
  readonly unchanged?: true;
  /** The parts of the page that were cut to the limits in `page-limits.ts`. Absent if all are complete. */
  readonly truncated?: readonly PagePart[];
  /** The crawler's result. For a crawler with steps: the item, a list if there are several, or null if there is none. */
  readonly data: unknown;
  /** Number of items found on the page; only for a crawler with steps. */
  readonly items?: number;
  /** The part of the page that `content` comes from, in a run that keeps the main content. */
  readonly contentOf?: ContentPart;
  /** The article's metadata, if `content` is an article. */
  readonly article?: ArticleFacts;
  /** The page's content in the form that the run keeps, such as text, markdown or HTML. */
  readonly content?: string;
}

/** A task that ended without a page. */
export interface EndedRecord extends RecordHead {
  /** The URLs that redirects led to before it ended. Absent if there were none. */
  readonly redirects?: readonly string[];
  readonly outcome: 'failed' | 'skipped';
  readonly reason: FailedReason | SkippedReason;
  /** For a file that steps asked for: the page that asked for it first. */
  readonly from?: string;
  readonly status?: number;
  readonly error?: string;
}
