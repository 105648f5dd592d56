import { expect, onTestFinished, test } from 'vitest';
import { forgetMarks } from '../../../../../shared/control/steering/forgetting.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { openLocalParts } from '../../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';

test('a URL is forgotten by the rules of every run, however many are newer', async () => {
  const clock = new SteppedClock();
  const { database, runs, marks, frontier } = openLocalParts({ clock });
  onTestFinished(() => database.close());
  const ever = { ...FAST_RUN, dedup: 'ever' } as const;
  await runs.open('oldest', { ...ever, urlKey: ['no-www'] }, 'p');
  const offer = { host: 'www.a.test', step: '', depth: 0, queue: 'normal' } as const;
  await frontier.offer('oldest', [{ ...offer, url: 'http://www.a.test/1', mark: 'http://a.test/1' }]);
  clock.step(1_000);
  for (let n = 0; n < 150; n++) await runs.open(`run-${n}`, ever, 'p');
  const { total } = await forgetMarks({ url: 'http://www.a.test/1' }, { marks, runs }, { isDry: true });
  expect(total.forgotten + total.kept).toBe(1);
});

test('a URL is forgotten at every step that has taken it', async () => {
  const { database, runs, marks, frontier } = openLocalParts({ clock: new SteppedClock() });
  onTestFinished(() => database.close());
  await runs.open('r', { ...FAST_RUN, dedup: 'ever' }, 'p');
  const [url, offer] = ['http://a.test/1', { host: 'a.test', depth: 0, queue: 'normal' } as const];
  await frontier.offer('r', [{ ...offer, url, step: 'product', mark: `product ${url}` }]);
  const { total } = await forgetMarks({ url }, { marks, runs }, { isDry: true });
  expect(total.forgotten + total.kept).toBe(1);
});
