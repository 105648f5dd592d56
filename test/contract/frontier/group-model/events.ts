import fc from 'fast-check';
import type { Settlement } from '../../../../shared/ports/frontier/frontier.ts';

/** One event of a history. Its numbers choose among what exists at that moment. */
export type Event =
  | { readonly kind: 'seed'; readonly path: number; readonly step: string }
  | { readonly kind: 'take'; readonly limit: number }
  | {
      readonly kind: 'follow';
      readonly which: number;
      readonly step: string;
      readonly paths: readonly number[];
      readonly isRepeated: boolean;
    }
  | { readonly kind: 'claim'; readonly which: number; readonly path: number }
  | {
      readonly kind: 'settle';
      readonly which: number;
      readonly as: Settlement['outcome'];
      readonly isRepeated: boolean;
    }
  | { readonly kind: 'lapse' | 'drain' | 'cancel' | 'seal' | 'open' | 'save' | 'lose' };

const which = fc.nat(1_000);
const path = fc.nat(5);
const step = fc.constantFrom('a', 'b', 'seller', 'product', '');
const outcome = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Settlement['outcome']>({ kind: 'done' }) },
  fc.constantFrom<Settlement['outcome']>(
    { kind: 'skipped', reason: 'content_type' },
    { kind: 'failed', reason: 'http_4xx' },
    { kind: 'retry', reason: 'timeout', inMs: 1_000 },
    { kind: 'defer' },
  ),
);
const only = (kind: 'lapse' | 'drain' | 'cancel' | 'seal' | 'open' | 'save' | 'lose') => fc.constant<Event>({ kind });

const seed = fc.record({ kind: fc.constant('seed' as const), path, step: fc.constantFrom('', 'product', 'product') });
const take = fc.record({ kind: fc.constant('take' as const), limit: fc.integer({ min: 1, max: 6 }) });
const follow = fc.record({
  ...{ kind: fc.constant('follow' as const), which, step },
  ...{ paths: fc.array(path, { minLength: 1, maxLength: 3 }), isRepeated: fc.boolean() },
});
const claim = fc.record({ kind: fc.constant('claim' as const), which, path });
const settle = fc.record({ kind: fc.constant('settle' as const), which, as: outcome, isRepeated: fc.boolean() });

const rest = fc.oneof(
  { weight: 10, arbitrary: seed },
  { weight: 24, arbitrary: take },
  { weight: 24, arbitrary: follow },
  { weight: 4, arbitrary: claim },
  { weight: 26, arbitrary: settle },
  { weight: 2, arbitrary: only('lapse') },
  { weight: 1, arbitrary: only('seal') },
  { weight: 4, arbitrary: only('open') },
  { weight: 4, arbitrary: only('save') },
  { weight: 1, arbitrary: fc.oneof(only('lose'), only('drain'), only('cancel')) },
);

/** Random events that begin with a product in a worker's hands. */
export const events: fc.Arbitrary<readonly Event[]> = fc
  .array(rest, { minLength: 40, maxLength: 100, size: 'max' })
  .map((all) => [{ kind: 'seed', path: 0, step: 'product' }, { kind: 'take', limit: 1 }, ...all]);
