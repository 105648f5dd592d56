import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openWorkplace } from '../../support/processes/trawl.ts';

/** The text of a crawler whose seeds run this statement, in its fourth line. */
function seedsThat(statement: string): string {
  return `import { defineCrawler } from 'trawl';
export default defineCrawler({
  name: 'shop', steps: { list: { run() {} } }, async seeds() {
    ${statement}
    return ['http://a.test/'];
  },
});
`;
}

// biome-ignore format: a table
test.each([
  ['an endless loop',       'for (let n = 0; ; n++) if (n < 0) break;'],
  ['a loop of microtasks',  'for (;;) await null;'],
])('seeds that block the process by %s end the command, which says where', async (_, statement) => {
  const workplace = await openWorkplace();
  await writeFile(join(workplace.folder, 'shop.ts'), seedsThat(statement));
  const { code, stderr } = await workplace.start(['crawl', '--crawler', './shop.ts', '--step-timeout', '100ms']).ended;
  expect([code, stderr.split('\n')]).toEqual([
    78,
    ['trawl: stuck for 10 s at shop.ts:4: this process ends', 'The seeds of crawler shop take too long.', ''],
  ]);
});
