import { stepErrorOf } from '../../../shared/crawler/failures/step-error.ts';
import { FILE_STEP } from '../../../shared/crawler/file-step.ts';
import type { Page } from '../../../shared/crawler/page.ts';
import type { Steps } from './steps.ts';
import type { OwnReading, Visit } from './visit.ts';

const PART = 'the reading of its page';

/**
 * Reads the parts of a page that Trawl itself needs, besides those its step reads. A page on which this fails is failed as if its step had
 * thrown, and its record gives the reason. If it were put back, it would be retried until it counts as a page that kills its process.
 */
export class OwnReader {
  readonly #steps: Pick<Steps, 'call'>;
  /** Resolves once every large page so far has been read. */
  #largePages: Promise<void> = Promise.resolve();

  constructor(steps: Pick<Steps, 'call'>) {
    this.#steps = steps;
  }

  /** Reads a large page ahead of its step, one at a time, so that only one page's text is in memory. Rejects with a StepError. */
  async readAhead({ run }: Visit, page: Page): Promise<void> {
    const read = this.#largePages.then(() => page.readAhead(run.options.content));
    this.#largePages = read.catch(() => {});
    try {
      await read;
    } catch (error: unknown) {
      throw stepErrorOf({ crawler: run.options.crawler, part: PART }, error);
    }
  }

  /** Reads the parts of a page that go into its record. Rejects with a StepError. */
  readRecorded({ run, task }: Visit, page: Page): Promise<OwnReading> {
    const { content, crawler } = run.options;
    const read = (): OwnReading => {
      const { title = null, truncated } = page;
      if (content === 'none' || task.step === FILE_STEP.key) return { title, truncated };
      return { title, truncated, content: page.contentAs(content) };
    };
    return this.#steps.call({ about: { crawler, part: PART }, url: page.url }, read, (own) => own as OwnReading);
  }
}
