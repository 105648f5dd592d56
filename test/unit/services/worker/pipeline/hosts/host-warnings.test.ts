import { expect, test } from 'vitest';
import { HostWarnings } from '../../../../../../services/worker/pipeline/hosts/host-warnings.ts';
import { LogLines } from '../../../../../support/stores/embedded.ts';
import { SteppedClock } from '../../../../../support/stores/stepped-clock.ts';

test('a host is warned about once an hour, and all hosts ten times a minute, with the count of warnings left out', () => {
  const [log, clock] = [new LogLines(), new SteppedClock()];
  const warnings = new HostWarnings({ log, clock });
  const warned = (): string[] => log.lines.filter((line) => line.startsWith('warn'));
  for (let round = 0; round < 4; round++) {
    for (let n = 0; n < 5; n++) warnings.tell(`${n}.test`, { error: 'refused' }, 'waits:');
    clock.step(15_000);
  }
  expect(warned()).toEqual([0, 1, 2, 3, 4].map((n) => `warn: waits: ${n}.test refused`));
  expect(log.lines).toHaveLength(20);
  for (let n = 10; n < 1_010; n++) warnings.tell(`${n}.test`, { error: 'refused' }, 'waits:');
  expect(warned()).toHaveLength(15);
  clock.step(60_000);
  warnings.tell('2000.test', { error: 'refused' }, 'waits:');
  expect(warned().slice(15)).toEqual(['warn: waits: 2000.test refused 990']);
  clock.step(3_600_000);
  warnings.tell('0.test', { error: 'refused' }, 'waits:');
  expect(warned()).toHaveLength(17);
});
