import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

/** Milliseconds within which a second signal counts as the same one. */
const SAME_SIGNAL_MS = 100;
const MODULE = new URL('../../../../../services/cli/process/interrupts.ts', import.meta.url).href;

/** Milliseconds that a process has after Ctrl-C. */
const GRACE_MS = 10_000;

/** Starts a process that runs `body` at the first signal. `body` can use `interrupts`, and `told` to print a line. */
function startProcess(body: string, made = '', before = '') {
  const code = `
    import { Interrupts, outliveTerminal } from ${JSON.stringify(MODULE)};
    ${before}
    const interrupts = new Interrupts()${made};
    const told = (line) => process.stdout.write(line + '\\n');
    const alive = setInterval(() => {}, 60_000);
    interrupts.signal.addEventListener('abort', async () => { ${body} });
    told('ready');`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    says: async () => (await lines.next()).value as string,
    ended: once(child, 'exit') as Promise<[code: number | null, signal: string | null]>,
  };
}

it('a second signal while a process stops ends it at once with 130', async () => {
  const { child, says, ended } = startProcess(`told('stopping');`);
  expect(await says()).toBe('ready');
  child.kill('SIGTERM');
  expect(await says()).toBe('stopping');
  await sleep(2 * SAME_SIGNAL_MS);
  child.kill('SIGTERM');
  expect(await ended).toEqual([130, null]);
});

it('a signal sent twice at once, as by `timeout`, counts once', async () => {
  const { child, says, ended } = startProcess(`
    told('stopping');
    process.kill(process.pid, 'SIGTERM');
    setTimeout(() => { told('finished'); process.exitCode = 0; clearInterval(alive); interrupts.close(); }, ${3 * SAME_SIGNAL_MS});`);
  expect(await says()).toBe('ready');
  child.kill('SIGTERM');
  expect([await says(), await says(), await ended]).toEqual(['stopping', 'finished', [0, null]]);
});

it('a process whose terminal is closed stops as it does after SIGTERM', async () => {
  const isTerminal = `Object.defineProperty(process.stderr, 'isTTY', { value: true }); outliveTerminal();`;
  const { child, says, ended } = startProcess(
    `told(interrupts.by); process.exitCode = 0; clearInterval(alive); interrupts.close();`,
    '',
    isTerminal,
  );
  expect(await says()).toBe('ready');
  child.kill('SIGHUP');
  expect([await says(), await ended]).toEqual(['SIGTERM', [0, null]]);
});

it('a process without a terminal as output, as under nohup, ignores SIGHUP', async () => {
  const { child, says, ended } = startProcess(
    `told(interrupts.by); process.exitCode = 0; clearInterval(alive); interrupts.close();`,
    '',
    'outliveTerminal();',
  );
  expect(await says()).toBe('ready');
  child.kill('SIGHUP');
  child.kill('SIGINT');
  expect([await says(), await ended]).toEqual(['SIGINT', [0, null]]);
});

it('a second signal after everything has stopped leaves the exit code as it is', async () => {
  const { child, says, ended } = startProcess(`process.exitCode = 0; interrupts.close(); told('closed');`);
  expect(await says()).toBe('ready');
  child.kill('SIGTERM');
  expect(await says()).toBe('closed');
  child.kill('SIGTERM');
  // The signal doesn't kill it: its parent sees an ordinary exit.
  expect(await ended).toEqual([0, null]);
});

it('an interrupted process with nothing left to do ends although a timer is still active', async () => {
  const { child, says, ended } = startProcess(`process.exitCode = 3; interrupts.close(); told('closed');`);
  expect(await says()).toBe('ready');
  child.kill('SIGINT');
  expect(await says()).toBe('closed');
  expect(await ended).toEqual([3, null]);
});

it('a process that stops within a grace period ends by then, whatever it waits for', async () => {
  const { child, says, ended } = startProcess(`
    told(String(interrupts.seconds));
    await interrupts.within(() => new Promise(() => {}), () => told('hurry'));`);
  expect(await says()).toBe('ready');
  const asked = performance.now();
  child.kill('SIGINT');
  const seconds = Number(await says());
  expect(seconds).toBe(10);
  expect(await says()).toBe('hurry');
  expect(performance.now() - asked).toBeLessThan(8_500);
  expect(await ended).toEqual([130, null]);
  expect(performance.now() - asked).toBeLessThan((seconds + 1) * 1_000);
});

it('a command interrupted while it waits for something that never comes ends after its grace period', async () => {
  const { child, says, ended } = startProcess(`told('waiting');`, '.endInTime()');
  expect(await says()).toBe('ready');
  const startedAt = performance.now();
  child.kill('SIGINT');
  expect(await says()).toBe('waiting');
  expect(await ended).toEqual([130, null]);
  expect(performance.now() - startedAt).toBeGreaterThan(GRACE_MS - SAME_SIGNAL_MS);
});
