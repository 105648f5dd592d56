import { expect, onTestFinished, test } from 'vitest';
import { steerFleet } from '../../../../../shared/control/steering/fleet-steering.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { openLocalParts } from '../../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

test('every open run is paused and resumed, however many there are', async () => {
  const stores = openLocalParts({ clock: new SteppedClock() });
  onTestFinished(() => stores.database.close());
  const ids = Array.from({ length: 450 }, (_, n) => `run-${n}`);
  for (const run of ids) await stores.runs.open(run, FAST_RUN, 'p');
  for (const [verb, state] of [
    ['pause', 'paused'],
    ['resume', 'running'],
  ] as const) {
    expect((await steerFleet(verb, 'a test', stores)).runs).toHaveLength(ids.length);
    for (const run of ids) expect((await stores.runs.standing(run))?.state).toBe(state);
  }
});
