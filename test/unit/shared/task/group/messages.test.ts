import { expect, test } from 'vitest';
import { groupOf, JOIN_HOST, joinMark } from '../../../../../shared/task/group/group.ts';
import { joinTaskOf, ownerText } from '../../../../../shared/task/group/join-task.ts';
import { readMessage, writeMessage } from '../../../../../shared/task/task/message.ts';
import type { Task } from '../../../../../shared/task/task/task.ts';
import { keyOfMark, markOf, stepOfMark } from '../../../../../shared/task/url/fingerprint.ts';

const OWNER: Task = {
  run: 'r',
  url: 'https://a.test/p',
  host: 'a.test',
  mark: 'product https://a.test/p',
  step: 'product',
  queue: 'normal',
  depth: 3,
  kept: { name: 'Lamp' },
  redirects: ['https://a.test/q'],
  cookies: [['https://a.test/p', 'id=1']],
};
const GROUP = groupOf(OWNER.mark);

function read(text: string) {
  return readMessage(new TextEncoder().encode(text));
}

test.each([undefined, '0123456789abcdef'])('a mark ends with its group', (digest) => {
  const mark = markOf('https://a.test/x', 'price', digest, GROUP);
  expect(mark.endsWith(` @${GROUP}`)).toBe(true);
  expect([stepOfMark(mark), keyOfMark(mark)]).toEqual(['price', 'https://a.test/x']);
});

test('a member travels with its group, in a message that older workers leave to others', () => {
  const { redirects: _, kept: __, ...plain } = OWNER;
  const task = { ...plain, step: 'price', mark: markOf('https://a.test/p', 'price', undefined, GROUP) };
  expect(JSON.parse(writeMessage(task))).toMatchObject({ v: 2, step: 'price', group: GROUP });
  expect(read(writeMessage(task))).toEqual({ kind: 'task', task });
  expect(JSON.parse(writeMessage(plain))).toMatchObject({ v: 1 });
  expect(read('{"v":3,"url":"https://a.test/"}')).toEqual({ kind: 'newer', version: 3 });
});

test('a join has the fields of its owner, without the redirects that the owner went through', () => {
  const mark = joinMark('offer', GROUP);
  const join = joinTaskOf(ownerText(OWNER), { run: 'r', queue: 'normal', mark });
  if (join === undefined) throw new Error('it can be read');
  expect(join).toEqual({
    ...{ run: 'r', queue: 'normal', host: JOIN_HOST, mark, step: 'offer', url: OWNER.url, depth: 3, kept: OWNER.kept },
    join: { group: GROUP, per: 'product', owner: OWNER.mark },
  });
  expect(JSON.parse(writeMessage(join))).toMatchObject({ v: 2, step: 'offer', join: { group: GROUP } });
  expect(read(writeMessage(join))).toEqual({ kind: 'task', task: join });
});

test('a join of the run has neither owner nor URL', () => {
  const join = joinTaskOf('', { run: 'r', queue: 'normal', mark: joinMark('report') });
  if (join === undefined) throw new Error('it can be read');
  expect(join).toMatchObject({ url: '', step: 'report', join: { group: 'run' } });
  expect(read(writeMessage(join))).toEqual({ kind: 'task', task: join });
});

test('an owner that cannot be read gives no join', () => {
  expect(
    joinTaskOf('mark\t{"depth":-1}', { run: 'r', queue: 'normal', mark: joinMark('offer', GROUP) }),
  ).toBeUndefined();
});
