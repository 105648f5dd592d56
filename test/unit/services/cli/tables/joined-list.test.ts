import { expect, onTestFinished, test } from 'vitest';
import { JoinedList } from '../../../../../services/cli/tables/joined-list.ts';
import type { ListLine } from '../../../../../services/cli/tables/list-lines.ts';
import type { PageRecord } from '../../../../../shared/ports/record.ts';
import { markOf, taskIdOf } from '../../../../../shared/task/url/fingerprint.ts';
import { doneRecord } from '../../../../support/builders.ts';

const URLS = ['http://a.test/1', 'http://a.test/2', 'http://a.test/3'];

/** A record of a step. Its task is at `ofTask`, which is empty for the first step. */
function recordAt(url: string, step: string, { title = step, ofTask = step } = {}): PageRecord {
  return { ...doneRecord(url), run: 'r', task: taskIdOf('r', markOf(url, ofTask)), step, title } as PageRecord;
}

/** Returns the title or reason that each line is joined with. */
async function joined(records: readonly PageRecord[], step?: string): Promise<unknown[]> {
  async function* lines(): AsyncGenerator<ListLine> {
    for (const url of URLS) yield { given: url, url: { canonical: url, login: undefined } };
  }
  async function* stored(): AsyncGenerator<PageRecord> {
    yield* records;
  }
  const list = await JoinedList.of(lines());
  onTestFinished(() => list.close());
  await list.keep(stored(), { run: 'r', rules: undefined, step });
  return (await Array.fromAsync(list.read())).map(({ title, reason }) => title ?? reason);
}

const [one = '', two = '', three = ''] = URLS;

test('a line is joined with the record of its URL, at whichever step that began', async () => {
  const records = [recordAt(one, 'list', { ofTask: '' }), recordAt(two, 'product'), recordAt(three, 'review')];
  expect(await joined(records)).toEqual(['list', 'product', 'review']);
});

test('a line whose URL was crawled at several steps is joined with the record of the first step', async () => {
  const first = recordAt(one, 'list', { ofTask: '' });
  const later = recordAt(one, 'product');
  expect(await joined([first, later])).toEqual(['list', 'no_record', 'no_record']);
  expect(await joined([later, first])).toEqual(['list', 'no_record', 'no_record']);
});

test('with a step given, a line is joined with the record of that step', async () => {
  const records = [
    recordAt(one, 'list', { ofTask: '' }),
    recordAt(one, 'product'),
    recordAt(two, 'list', { ofTask: '' }),
  ];
  expect(await joined(records, 'product')).toEqual(['product', 'no_record', 'no_record']);
});

test('the record of a fallback is found by the step it stands in for', async () => {
  const record = { ...recordAt(one, 'any', { ofTask: 'product' }), insteadOf: 'product' } as PageRecord;
  expect(await joined([record])).toEqual(['any', 'no_record', 'no_record']);
});
