import { expect, test } from 'vitest';
import { FailFastSink } from '../../../../services/process/fail-fast-sink.ts';
import { RecordRefusedError } from '../../../../shared/ports/sink.ts';
import { StorageError } from '../../../../shared/runtime/errors.ts';
import { doneRecord } from '../../../support/builders.ts';

/** A sink that fails with the errors of a list, in turn, and takes what is put after them. */
function sinkThatFails(...errors: readonly Error[]) {
  const left = [...errors];
  const fail = async (): Promise<void> => {
    const error = left.shift();
    if (error !== undefined) throw error;
  };
  const files = { put: () => fail().then(() => 'files/a.pdf') };
  const sink = new FailFastSink({ put: fail, start: async () => {}, stop: async () => {} }, files);
  return { sink, put: () => sink.put(doneRecord('http://a.test/1')) };
}

test('a disk that is full ends the crawl, which is told why', async () => {
  const full = new StorageError("output/mine/w.jsonl can't be written: ENOSPC");
  const { sink, put } = sinkThatFails(full);
  await expect(put()).rejects.toBe(full);
  expect(sink.failure.reason).toBe(full);
});

test('so does one that takes no files', async () => {
  const full = new StorageError("output/mine/files/a.pdf can't be written: ENOSPC");
  const { sink } = sinkThatFails(full);
  const file = { run: 'mine', body: new Uint8Array(1), hash: 'a', extension: 'pdf' };
  await expect(sink.files.put(file)).rejects.toBe(full);
  expect(sink.failure.reason).toBe(full);
});

test('a record that no store would take fails its page, and ends no crawl', async () => {
  const refused = new RecordRefusedError('the record is too large', { reason: 'too_large' });
  const { sink, put } = sinkThatFails(refused);
  await expect(put()).rejects.toBe(refused);
  expect(sink.failure.aborted).toBe(false);
  await put();
});
