/** What `import … from 'trawl'` gives: all that the author of a crawler needs. */
// biome-ignore-start lint/performance/noBarrelFile: the one door of the package
export type { FetchedPage } from '../ports/fetcher.ts';
export type { Task } from '../task/task/task.ts';
export { acceptsText, type Crawler, defineCrawler, type Step, type StepResult } from './crawler.ts';
export { Page } from './page.ts';
// biome-ignore-end lint/performance/noBarrelFile: the one door of the package
