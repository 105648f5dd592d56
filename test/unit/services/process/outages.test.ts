import { expect, test } from 'vitest';
import { Outages } from '../../../../services/process/outages.ts';
import { silentLog } from '../../../../shared/runtime/logger.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';

function setup() {
  const clock = new SteppedClock();
  const said: string[] = [];
  const warn = ({ what, error = '' }: { what?: string; error?: string }, message: string): void =>
    void said.push(`${message} ${what} ${error}`.trim());
  return { clock, said, outages: new Outages({ ...silentLog, warn }, clock) };
}

test('an outage is logged when it begins, for each new reason, every half minute, and when it ends', () => {
  const { clock, said, outages } = setup();
  for (let second = 0; second < 65; second++) {
    outages.lost('RabbitMQ', second === 0 ? 'read ECONNRESET' : 'connect ECONNREFUSED');
    clock.step(1_000);
  }
  outages.restored('RabbitMQ');
  expect(said).toEqual([
    'connection lost, trying again: RabbitMQ read ECONNRESET',
    'still unreachable after 1.0 s, trying again: RabbitMQ connect ECONNREFUSED',
    'still unreachable after 30 s, trying again: RabbitMQ connect ECONNREFUSED',
    'still unreachable after 60 s, trying again: RabbitMQ connect ECONNREFUSED',
    'connected again after 65 s: RabbitMQ',
  ]);
});

test('outages of two services are separate, and the next outage of one is a new one', () => {
  const { clock, said, outages } = setup();
  outages.lost('Redis', 'a');
  outages.lost('RabbitMQ', 'b');
  clock.step(2_000);
  outages.restored('Redis');
  outages.lost('Redis', 'c');
  expect(said).toEqual([
    'connection lost, trying again: Redis a',
    'connection lost, trying again: RabbitMQ b',
    'connected again after 2.0 s: Redis',
    'connection lost, trying again: Redis c',
  ]);
});
