import { expect, test } from 'vitest';
import { RowWindow } from '../../../../../shared/control/table/row-window.ts';

test.each([
  [{}, [0, 1, 2, 3, 4], false],
  [{ offset: 2 }, [2, 3, 4], false],
  [{ limit: 2 }, [0, 1], true],
  [{ offset: 1, limit: 2 }, [1, 2], true],
  [{ offset: 4, limit: 1 }, [4], true],
  [{ offset: 4, limit: 2 }, [4], false],
  [{ offset: 9, limit: 2 }, [], false],
])('%o of five rows', (options, expected, isOver) => {
  const window = new RowWindow(options);
  expect([0, 1, 2, 3, 4].filter(() => window.takesNext())).toEqual(expected);
  expect([window.seen, window.isOver]).toEqual([5, isOver]);
});
