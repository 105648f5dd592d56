import { expect, test } from 'vitest';
import { hostLines } from '../../../../../services/cli/text/fleet-hosts.ts';

const PAUSED = { pausedMs: 60_000, reason: 'HTTP 429', byHand: false, isUnreachable: false };

test('paused hosts are counted, and the line after those listed says how many more there are', () => {
  const paused = [{ host: 'a.test', ...PAUSED }];
  expect(hostLines({ due: 3, paused, pausedCount: 20_001 }, false)).toEqual([
    'Due hosts: 3',
    'Paused hosts: 20 001',
    '  a.test  paused for 60 s more (HTTP 429)',
    '  … and 20 000 more',
  ]);
  expect(hostLines({ due: 3, paused, pausedCount: 1 }, false).at(-1)).toContain('a.test');
  expect(hostLines({ due: 0, paused: [], pausedCount: 0 }, false)).toEqual(['Due hosts: 0']);
});
