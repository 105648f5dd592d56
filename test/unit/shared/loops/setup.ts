import { onTestFinished } from 'vitest';
import type {
  OutgoingMessage,
  PublishOutcome,
  Transport,
  TransportTrouble,
} from '../../../../shared/ports/transport.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { LogLines, offerOf, openEmbedded, releaserOf, settled } from '../../../support/stores/embedded.ts';
import { offerAll } from '../../../support/stores/offer-all.ts';
import { withMethods } from '../../../support/with-methods.ts';

interface SetupOptions {
  readonly window?: number;
  readonly intervalMs?: number;
  /** What the broker says to a message; `confirmed` if left out. */
  readonly answer?: (message: OutgoingMessage) => PublishOutcome;
}

/** A releaser on the embedded stores, with a run `r`. */
export async function setup({ window, intervalMs = 0, answer = () => 'confirmed' }: SetupOptions = {}) {
  const stores = openEmbedded();
  const { clock, frontier, runs, roster } = stores;
  await runs.open('r', { ...FAST_RUN, intervalMs }, 'p');
  const published: OutgoingMessage[] = [];
  const broker: { trouble: TransportTrouble | undefined } = { trouble: undefined };
  const calls = { release: 0 };
  const transport = withMethods(stores.transport as Transport, {
    publish: async (messages) => {
      const taken = messages.filter((message) => answer(message) === 'confirmed');
      published.push(...taken);
      await stores.transport.publish(taken);
      return messages.map(answer);
    },
    trouble: () => broker.trouble,
  });
  const watched = withMethods(frontier, {
    release: async (options) => {
      calls.release++;
      return await frontier.release(options);
    },
  });
  const log = new LogLines();
  const releaser = releaserOf({ ...stores, frontier: watched, transport, log, window });
  onTestFinished(() => releaser.stop());
  return {
    ...stores,
    releaser,
    published,
    broker,
    calls,
    log,
    offer: (...urls: string[]) =>
      offerAll(
        frontier,
        'r',
        urls.map((url) => offerOf(url)),
      ),
    work: (slots: number) =>
      roster.beat({ id: 'w', host: 'h', version: '1', slots, inHand: 0, bound: 'slots', state: 'consuming' }),
    /** Steps the clock and lets the releaser do what is due. */
    async step(ms: number): Promise<void> {
      await settled();
      clock.step(ms);
      await settled();
    },
  };
}

export function urls(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, i) => `http://a.test/${from + i}`);
}
