import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Crawler } from '../../../shared/crawler/crawler.ts';
import { testCrawler } from '../../../shared/crawler/trawl.ts';
import { CHECKOUT, textOf } from '../../support/docs/pages.ts';

/** Returns the test of a crawler that a page shows, and the example that it is of: its name in the test, and its file. */
function shownTestOf(page: string): { readonly code: string; readonly name: string; readonly file: string } {
  const [, block = ''] = /^```ts\n(import \{ testCrawler \} from 'trawl';\n.*?)^```$/ms.exec(textOf(page)) ?? [];
  const [, name = '', file = ''] = /^import (\w+) from '\.\.\/crawlers\/([\w-]+\.ts)';$/m.exec(block) ?? [];
  return { code: block.replaceAll(/^import .*\n/gm, '').trim(), name, file: join(CHECKOUT, 'examples', file) };
}

test.each(['docs/commands.md', 'docs/joins.md'])('%s: its test passes with the example that it tests', async (page) => {
  const { code, name, file } = shownTestOf(page);
  const { default: crawler }: { readonly default: Crawler } = await import(file);
  let isCalled = false;
  const call = async (_what: string, run: () => Promise<void>): Promise<void> => {
    isCalled = true;
    await run();
  };
  await new Function('test', 'expect', 'testCrawler', name, `return ${code}`)(call, expect, testCrawler, crawler);
  expect(isCalled).toBe(true);
});
