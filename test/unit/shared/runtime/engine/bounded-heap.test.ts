import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const MODULE = join(import.meta.dirname, '../../../../../shared/runtime/engine/bounded-heap.ts');

/** Creates objects that live long enough for V8's young generation to grow to its limit. Prints its largest size in MiB. */
const CHURN = `
const v8 = require('node:v8');
const kept = new Array(300_000);
let made = 0;
let largest = 0;
const turn = () => {
  for (let n = 0; n < 5_000; n++) kept[made++ % kept.length] = { list: new Array(40).fill(made), text: 'x' + made };
  const young = v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  largest = Math.max(largest, young.space_size);
  if (made < 2_000_000) setImmediate(turn);
  else console.log(largest / 2 ** 20);
};
`;

async function largestYoungMiB(start: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', `${CHURN}${start}`]);
  return Number(stdout);
}

function bounded(inHand: number): Promise<number> {
  return largestYoungMiB(
    `import(${JSON.stringify(MODULE)}).then(({ boundHeap }) => { boundHeap(() => ${inHand}); turn(); });`,
  );
}

test('the young generation stops growing at 32 MiB, with many pages in hand at 64, or one step above it', async () => {
  expect(await largestYoungMiB('turn();'), 'else this test shows nothing').toBeGreaterThan(64);
  const few = await bounded(20);
  expect(few).toBeLessThanOrEqual(64);
  expect(await bounded(200)).toBeGreaterThanOrEqual(Math.max(few, 64));
}, 30_000);

test('once ended, inHand is neither called nor kept in memory', async () => {
  const script = `
    const { boundHeap } = await import(${JSON.stringify(MODULE)});
    const turn = () => new Promise((resolve) => setTimeout(resolve, 20));
    let asked = 0;
    let pages = { inHand: 1 };
    const kept = new WeakRef(pages);
    let end = ((its) => boundHeap(() => (asked++, its.inHand)))(pages);
    pages = undefined;
    await turn();
    gc();
    await turn();
    const before = asked;
    end();
    end = undefined;
    await turn();
    gc();
    await turn();
    console.log(before > 0, asked === before, kept.deref() === undefined);
  `;
  const flags = ['--expose-gc', '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  expect(stdout).toBe('true true true\n');
});
