import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { SCHEMA_VERSION } from '../../../../../shared/stores/sqlite/database/schema.ts';
import { openLocalParts } from '../../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

const HOST = 'shop.example';
const LIMIT = { intervalMs: 1_000, concurrency: 1 };

let path: string;

beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-remembered-'));
  path = join(folder, 'trawl.sqlite');
  return async () => await rm(folder, { recursive: true });
});

/** The stores of a process. */
function openProcess() {
  const parts = openLocalParts({ clock: new SteppedClock(), path });
  onTestFinished(() => parts.database.close());
  return parts;
}

test('changes of another process are seen, although rows are remembered', async () => {
  const [own, other] = [openProcess(), openProcess()];
  for (const reason of ['first', 'second']) {
    await own.gate.ask(HOST, LIMIT, 'a');
    await own.gate.leave(HOST, LIMIT, 'a');
    await other.gate.pauseByHand(HOST, reason);
    expect(await own.gate.ask(HOST, LIMIT, 'a')).toMatchObject({ granted: false, because: 'pause' });
    await own.gate.resume(HOST);
    expect(await other.gate.stillOpen(HOST)).toBe(true);
  }
});

test('a process whose first call failed is still recorded as the last writer', async () => {
  const [own, other] = [openProcess(), openProcess()];
  await own.gate.ask(HOST, LIMIT, 'a');
  const failing = other.store.move(() => {
    throw new RangeError('of the call');
  });
  await expect(failing).rejects.toThrow('of the call');
  await other.gate.pauseByHand(HOST, 'later');
  expect(await own.gate.ask(HOST, LIMIT, 'a')).toMatchObject({ granted: false, because: 'pause' });
});

test('the thread that shortens the log makes no process read its rows again', async () => {
  const { gate, database } = openProcess();
  await gate.ask(HOST, LIMIT, 'a');
  await gate.leave(HOST, LIMIT, 'a');
  const before = await database.call(() => database.version);
  const thread = new DatabaseSync(path);
  thread.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
  thread.close();
  const read = vi.spyOn(database, 'get');
  await gate.stillOpen(HOST);
  expect(await database.call(() => database.version)).not.toBe(before);
  expect(read.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes('hosts'))).toEqual([]);
});

test('a place at a host ends with its lease, and when its request leaves', async () => {
  const { gate, clock } = openProcess();
  const free = { intervalMs: 0, concurrency: 2 };
  const ask = async (holder: string) => (await gate.ask(HOST, free, holder)).granted;
  expect([await ask('a'), await ask('b'), await ask('a'), await ask('c')]).toEqual([true, true, true, false]);
  await gate.leave(HOST, free, 'a');
  expect([await ask('c'), await ask('a')]).toEqual([true, false]);
  clock.step(600_000);
  expect([await ask('a'), await ask('d'), await ask('e')]).toEqual([true, true, false]);
});
