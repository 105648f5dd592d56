import type { FieldsOfRecord } from '../task/task/fields.ts';
import type { FailedReason, SkippedReason } from '../task/task/outcome.ts';
import type { PagePart } from '../task/task/page-limits.ts';

/** What a run keeps of one task: one line of JSON in a sink. */
export type PageRecord = DoneRecord | EndedRecord;

interface RecordHead extends FieldsOfRecord {
  readonly run: string;
  /** The task's id. */
  readonly task: string;
  readonly crawler: string;
  /** Of the crawler that ended it, 8 hex digits. Left out for what no crawler had in hand. */
  readonly version?: string;
  readonly step: string;
  /** Without credentials, as all URLs of a record. */
  readonly url: string;
  /** The highest release of a task is the one that counts. */
  readonly release: number;
  /** Attempts, this one included. */
  readonly attempt: number;
  readonly worker: string;
  /** ISO 8601. */
  readonly fetchedAt: string;
}

/** What is kept of an article beside its text. */
export const ARTICLE_FIELDS = ['title', 'byline', 'published', 'language', 'excerpt'] as const;

/** What a page says of its article, as `page.article` has it. What it doesn't say is left out. */
export type ArticleFacts = { readonly [Field in (typeof ARTICLE_FIELDS)[number]]?: string };

/** The parts of a page that its main content may be: an article, or else its `<main>`, or else all of it. */
export const CONTENT_PARTS = ['article', 'main', 'page'] as const;
export type ContentPart = (typeof CONTENT_PARTS)[number];

/** A page that was fetched. */
export interface DoneRecord extends RecordHead {
  readonly outcome: 'done';
  /** The step whose task it was, where a fallback has taken over: `step` is then the fallback. */
  readonly insteadOf?: string;
  readonly finalUrl: string;
  /** The URLs that redirects led to, the last one being `finalUrl`. Left out when there were none. */
  readonly redirects?: readonly string[];
  readonly status: number;
  readonly title: string | null;
  readonly contentType: string | null;
  /** SHA-256 of the body, hex. */
  readonly contentHash: string;
  /** Of the body, decompressed. */
  readonly bytes: number;
  readonly durationMs: number;
  readonly fromCache: boolean;
  /** In an incremental run: the content is the same as at the last fetch, by its hash. Left out where it isn't. */
  readonly unchanged?: true;
  /** The parts of the page that were cut, by the limits of `page-limits.ts`. Left out if all are complete. */
  readonly truncated?: readonly PagePart[];
  /** What the crawler made of the page: of a crawler with steps its item, a list of several, or null if there is none. */
  readonly data: unknown;
  /** How many items a crawler with steps found on the page. */
  readonly items?: number;
  /** Of what `content` is, in a run that keeps the main content of its pages. */
  readonly contentOf?: ContentPart;
  /** Where `content` is an article. */
  readonly article?: ArticleFacts;
  /** The body, if the run keeps it: as text, or as HTML. */
  readonly content?: string;
}

/** A task that ended without a page. */
export interface EndedRecord extends RecordHead {
  /** The URLs that redirects led to before it ended. Left out when there were none. */
  readonly redirects?: readonly string[];
  readonly outcome: 'failed' | 'skipped';
  readonly reason: FailedReason | SkippedReason;
  /** Of a file that a step asked for, the page that did first. */
  readonly from?: string;
  readonly status?: number;
  readonly error?: string;
}
