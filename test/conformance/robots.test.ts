import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseRobots } from '../../shared/task/robots/robots.ts';
import { decide } from '../../shared/task/robots/robots-match.ts';

/** Rows of other crawlers' suites, read in place. `docs/robots.md` has the table that comes of them. */
const folder = process.env.CASES_DIR ?? '';

interface RuleCase {
  readonly id: string;
  readonly robots?: string;
  readonly robots_b64?: string;
  readonly agent: string;
  readonly url: string;
  readonly allowed: boolean;
  /** `core`: all agree; `rfc-must`: the RFC's text decides; `lenient`: broken files; `policy`: others chose otherwise. */
  readonly class: 'core' | 'rfc-must' | 'lenient' | 'policy';
}

interface DelayCase {
  readonly id: string;
  readonly robots: string;
  readonly agent: string;
  readonly crawl_delay_s: number | null;
}

/** Of 43: the others want an agent name of two words, and a wildcard in one. */
const LENIENT_PASSED = 41;
/** Of 49, in which crawlers chose differently: ours are in `docs/robots.md`. */
const POLICY_PASSED = 26;
/** Its author's parser takes an hour for no delay at all. Ours tells, and the worker skips the host for it. */
const DELAY_THAT_IS_TOLD = 'cd017';

function rows<T>(file: string): T[] {
  return readFileSync(join(folder, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The agent as a crawler's token: without a version. */
function tokenOf(agent: string): string {
  return agent.split('/', 1)[0]?.trim() ?? '';
}

function bytesOf({ robots = '', robots_b64 }: RuleCase): Uint8Array {
  return robots_b64 === undefined ? Buffer.from(robots) : Buffer.from(robots_b64, 'base64');
}

/** Ids of the rows of a class that come out otherwise, and how many there are. */
function judge(wanted: RuleCase['class']): { readonly count: number; readonly failed: string[] } {
  const cases = rows<RuleCase>('robots.jsonl').filter((row) => row.class === wanted);
  const failed = cases
    .filter((row) => {
      const rules = parseRobots(bytesOf(row), tokenOf(row.agent));
      return decide(rules, new URL(row.url).href).isAllowed !== row.allowed;
    })
    .map(({ id }) => id);
  return { count: cases.length, failed };
}

test.each([
  ['core', 944],
  ['rfc-must', 43],
] as const)('every row of class %s comes out right, all %i', (wanted, count) => {
  expect(judge(wanted)).toEqual({ count, failed: [] });
});

test.each([
  ['lenient', LENIENT_PASSED],
  ['policy', POLICY_PASSED],
] as const)('of class %s, no fewer rows come out as their authors have it: %i', (wanted, passed) => {
  const { count, failed } = judge(wanted);
  process.stdout.write(`robots.jsonl, ${wanted}: ${count - failed.length} of ${count}\n`);
  expect(count - failed.length, `otherwise: ${failed.join(' ')}`).toBeGreaterThanOrEqual(passed);
});

test('crawl delays are those that other crawlers read', () => {
  const cases = rows<DelayCase>('robots_crawl_delay.jsonl');
  const failed = cases
    .filter(({ robots, agent, crawl_delay_s }) => {
      const { crawlDelayMs } = parseRobots(Buffer.from(robots), tokenOf(agent));
      return (crawlDelayMs === undefined ? null : crawlDelayMs / 1_000) !== crawl_delay_s;
    })
    .map(({ id }) => id);
  expect({ count: cases.length, failed }).toEqual({ count: 40, failed: [DELAY_THAT_IS_TOLD] });
});
