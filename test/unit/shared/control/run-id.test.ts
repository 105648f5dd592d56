import { expect, test } from 'vitest';
import { newRunId, readRunId } from '../../../../shared/control/run-id.ts';
import { UsageError } from '../../../../shared/runtime/errors.ts';

test.each(['a', '0', 'mine', '20261121-143005-7f3a', 'a-', `a${'-'.repeat(62)}`, newRunId()])(
  '%s is a run id',
  (id) => {
    expect(readRunId(id)).toBe(id);
  },
);

test.each([
  '',
  '.',
  '..',
  '../x',
  '/etc',
  'a/b',
  'a\\b',
  'A',
  'é',
  '-x',
  'x'.repeat(64),
  'a\n',
  'a\u0000',
  ' a',
  'run:x',
])('%j is none', (id) => {
  expect(() => readRunId(id)).toThrow(UsageError);
});
