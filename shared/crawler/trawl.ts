/** The exports of `import … from 'trawl'`: everything that the author of a crawler needs. */
// biome-ignore-start lint/performance/noBarrelFile: the one door of the package

export { z } from 'zod';
export type { FetchedPage } from '../ports/fetcher.ts';
export type { Failure, RetryPolicy } from '../task/task/retry-policy.ts';
export type { Task } from '../task/task/task.ts';
export {
  type AboutPage,
  defineMiddleware,
  type FolderMiddleware,
  type Middleware,
  type RequestInSight,
  type StoredPage,
} from './around/middleware.ts';
export type { LoginContext, SessionDefinition } from './around/session.ts';
export type { Article } from './article/article.ts';
export type { Condition, ConditionForm } from './condition.ts';
export { acceptsText, type Crawler, defineCrawler } from './crawler.ts';
export type { AcceptsType, PageFunction, StepContext, StepResult } from './definition.ts';
export type { FollowedRequest } from './followed-request.ts';
export type { FieldValue, FormFields } from './forms/form.ts';
export type { FormFile } from './forms/form-fields.ts';
export type { JoinInput, JoinOwner, MissingInput, MissingInputs } from './joins/joins.ts';
export type { MadePageOptions } from './made-page.ts';
export { Page } from './page.ts';
export {
  type SavedAnswer,
  type SavedPage,
  type TestCrawlerOptions,
  type TestedPage,
  type TestRunOptions,
  testCrawler,
} from './testing/test-crawler.ts';
export type { TestedLink, TestedRun } from './testing/tested-run.ts';
export type { NumberOptions } from './tools/numbers.ts';
export type { Selection, TableOptions } from './tools/selection.ts';
export type { TableRow } from './tools/table.ts';
export type { JsonLdObject } from './tools/written/structured-data.ts';
// biome-ignore-end lint/performance/noBarrelFile: the one door of the package
