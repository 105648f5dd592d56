import fc from 'fast-check';
import { DAY_MS } from '../../../../shared/task/durations.ts';
import type { HostFault } from '../../../../shared/task/host/breaker.ts';
import type { Outcome } from '../../../../shared/task/task/outcome.ts';
import { Drain, EndQueued, Offers, Reap, Release, Request, Step } from './commands.ts';
import { Lose, Remembered } from './loss.ts';
import { FAST_HOSTS } from './model.ts';
import { Forget, Look, SteerHost } from './people-commands.ts';
import { Admit, Claim, Follow, Handed, type Health, Queued, Renew, Settle, Work } from './release-commands.ts';
import { Open, RUNS, Seal, Steer } from './run-commands.ts';
import type { Command } from './world.ts';

const STEPS_MS = [1_000, 5_000, 31_000, 65_000, 1_200_000, 7_200_000];
/** Steps of a clock that is set wrong and right again. */
const JUMPS_MS = [DAY_MS, -DAY_MS, -DAY_MS, -5_000];

const run = fc.constantFrom(...Object.keys(RUNS));
const pick = fc.nat(1_000);
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Outcome>({ kind: 'done' }) },
  fc.constant<Outcome>({ kind: 'skipped', reason: 'content_type' }),
  fc.constantFrom<Outcome>(
    { kind: 'failed', reason: 'http_4xx' },
    { kind: 'failed', reason: 'malformed' },
    { kind: 'failed', reason: 'deadline' },
  ),
  {
    weight: 2,
    arbitrary: fc.constantFrom<Outcome>(
      { kind: 'retry', reason: 'timeout', inMs: 10_000 },
      { kind: 'retry', reason: 'connection', inMs: 300_000 },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Outcome>(
      { kind: 'defer' },
      { kind: 'defer', inMs: 20_000 },
      { kind: 'defer', inMs: 60_000, throttled: true },
      { kind: 'defer', host: { pauseMs: 30_000, reason: 'Retry-After' } },
      { kind: 'defer', host: { pauseMs: 900_000, reason: 'Retry-After' } },
      { kind: 'defer', host: { reason: 'HTTP 429' } },
    ),
  },
);

const SILENCE: Health = { hostAnswered: false, hostTrouble: { kind: 'silent', reason: 'no answer' } };
const kind = fc.constantFrom<HostFault>(
  'connection errors',
  'connection errors',
  'time-outs',
  'answers of 5xx',
  'answers of 500',
  'answers of 500',
);
const health: fc.Arbitrary<Health> = fc.oneof(
  fc.constant<Health>({}),
  { weight: 2, arbitrary: fc.constant<Health>({ hostAnswered: true }) },
  fc.constantFrom<Health>({ hostAnswered: false }, { hostAnswered: false, slowDown: 'HTTP 429' }),
  { weight: 3, arbitrary: kind.map((hostFault): Health => ({ hostAnswered: false, hostFault })) },
  { weight: 3, arbitrary: kind.map((hostFault): Health => ({ ...SILENCE, hostFault })) },
  fc.constantFrom<Health>(
    { hostSpoke: true },
    { ...SILENCE, hostSpoke: true, hostFault: 'time-outs' },
    { hostAnswered: false, hostTrouble: { kind: 'silent', reason: 'failed look-ups', pauseMs: 40_000 } },
    { hostAnswered: false, hostTrouble: { kind: 'answered', reason: 'robots.txt 503', pauseMs: 40_000 } },
    { hostAnswered: false, hostTrouble: { kind: 'outage', reason: 'no answer' } },
  ),
  fc.constant<Health>({ hostAnswered: false, hostFault: 'answers of 5xx', slowDown: 'HTTP 503' }),
);

/**
 * Random commands for the model: everything that a fleet and its failures can do to a frontier. With `unruly`, the stores'
 * clock is also set and they lose their last writes. With `forgets`, marks are forgotten, which compact marks support only in part.
 */
export function commands(
  mostCommands: number,
  { unruly = true, forgets = false } = {},
): fc.Arbitrary<Iterable<Command>> {
  const producer = fc.constantFrom('p1', 'p2');
  const paths = fc.array(fc.nat(7), { minLength: 1, maxLength: 6 });
  const deadline = fc.option(fc.constantFrom(50_000, 2_000_000), { nil: undefined });
  const input = fc.constantFrom('one sitemap', 'another');
  const open = fc.tuple(run, producer, input).map(([id, by, reads]) => new Open(id, by, reads));
  const seal = fc.tuple(run, fc.option(producer, { nil: undefined })).map(([id, by]) => new Seal(id, by));
  const changed = fc.option(fc.constantFrom(0, -1_000, -100_000), { nil: undefined });
  const most = fc.option(fc.nat(6), { nil: undefined });
  const offer = fc
    .tuple(run, paths, deadline, changed, most)
    .map(([id, list, deadlineMs, changedMs, limit]) => new Offers(id, list, { deadlineMs, changedMs, limit }));
  const links = fc
    .tuple(run, paths, pick, most, most, fc.boolean())
    .map(
      ([id, list, parent, maxPages, limit, again]) => new Offers(id, list, { parent, most: maxPages, limit, again }),
    );
  const follow = fc.tuple(run, paths).map((args) => new Follow(...args));
  const release = fc
    .tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 30 }), fc.boolean())
    .map((args) => new Release(...args));
  const queued = fc.tuple(run, pick).map((args) => new Queued(...args));
  const admit = fc.tuple(run, pick).map((args) => new Admit(...args));
  const claim = fc.tuple(run, pick, fc.nat(9)).map((args) => new Claim(...args));
  const moved = fc.option(fc.constantFrom(...FAST_HOSTS), { nil: undefined, freq: 4 });
  const handed = fc.tuple(run, pick).map((args) => new Handed(...args));
  const renew = fc.tuple(run, pick).map((args) => new Renew(...args));
  const settle = fc.tuple(run, pick, outcome, health, fc.boolean(), moved).map((args) => new Settle(...args));
  const work = fc.tuple(run, outcome, fc.tuple(health, health)).map((args) => new Work(...args));
  const silence = fc.tuple(run, kind).map(([id, hostFault]) => {
    const failing: Health = { ...SILENCE, hostFault };
    return new Work(id, { kind: 'retry', reason: 'connection', inMs: 10_000 }, [failing, failing]);
  });
  const request = fc
    .tuple(
      fc.constantFrom('x', 'y'),
      fc.record({
        durationMs: fc.constantFrom(50, 4_000, 90_000),
        isFailure: fc.boolean(),
      }),
      fc.boolean(),
    )
    .map((args) => new Request(...args));
  const steer = fc
    .tuple(run, fc.constantFrom<'pause' | 'resume' | 'cancel'>('pause', 'resume', 'resume', 'cancel'))
    .map((args) => new Steer(...args));
  const step = fc.constantFrom(...STEPS_MS).map((ms) => new Step(ms));
  const jump = fc.constantFrom(...JUMPS_MS).map((ms) => new Step(ms));
  const lose = fc.constantFrom('second', 'second', 'time').map((lost) => new Lose(lost));
  const endQueued = run.map((id) => new EndQueued(id));
  const look = fc.nat(7).map((path) => new Look(path));
  const steered = fc.constantFrom<SteerHost['wanted']>('pause', 'resume', 'pause by hand and resume');
  const steerHost = fc.tuple(fc.constantFrom(...FAST_HOSTS), steered).map((args) => new SteerHost(...args));
  const forget = fc.oneof(fc.nat(7), fc.constantFrom<'host' | 'all'>('host', 'all')).map((which) => new Forget(which));
  const janitor = fc.constantFrom(new Reap(), new Drain());
  // A kind of command is as frequent as its entries here.
  const kinds = [
    ...[open, open, open, open, open, open],
    ...[offer, offer, offer, offer, offer, offer],
    ...[links, links, links, follow, follow],
    ...[release, release, release],
    ...[queued, handed, renew, claim, claim],
    ...[admit, admit, admit],
    ...[settle, settle, settle],
    ...[work, work, silence, silence],
    ...[seal, steer, endQueued, request],
    ...[janitor, janitor],
    ...[look, look, steerHost, steerHost],
    ...(forgets ? [forget, forget] : []),
  ];
  const remembered = [...kinds, ...(unruly ? [jump] : [])].map((kind) =>
    kind.map((command) => new Remembered(command, false)),
  );
  const steps = [step, step, step].map((kind) => kind.map((command) => new Remembered(command, true)));
  return fc.commands([...remembered, ...steps, ...(unruly ? [lose] : [])], { maxCommands: mostCommands, size: 'max' });
}

/** Commands that open runs with URLs and save them to disk. */
export const OPENED: readonly Command[] = [
  ...['r1-ever', 'r3-own'].flatMap((id) => [new Open(id, 'p1', 'one sitemap'), new Offers(id, [1, 2, 3], {})]),
  new Step(1_000),
].map((command) => new Remembered(command, true));

/** Random commands after {@link OPENED}: links of pages are offered while the stores lose their last second repeatedly. */
export function losses(mostCommands: number): fc.Arbitrary<Iterable<Command>> {
  const id = fc.constantFrom('r1-ever', 'r3-own');
  const paths = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 3 });
  // Chooses mostly the same few releases, so that much happens to each.
  const one = fc.integer({ min: 1, max: 9 });
  const offer = fc.tuple(id, paths).map(([of, list]) => new Offers(of, list, {}));
  const follow = fc.tuple(id, paths).map((args) => new Follow(...args));
  const links = fc
    .tuple(id, paths, one, fc.boolean())
    .map(([of, list, parent, again]) => new Offers(of, list, { parent, again }));
  const admit = fc.tuple(id, one).map((args) => new Admit(...args));
  const settle = fc
    .tuple(id, one, outcome, fc.constantFrom<Health>({}, { hostAnswered: true }), fc.boolean())
    .map((args) => new Settle(...args));
  const steer = fc
    .tuple(id, fc.constantFrom<'pause' | 'resume' | 'cancel'>('pause', 'resume', 'resume', 'resume', 'cancel'))
    .map((args) => new Steer(...args));
  const step = fc.constantFrom(1_000, 1_000, 31_000).map((ms) => new Step(ms));
  const kinds = [
    ...[offer, offer, follow, follow, links, links, links, links, admit],
    ...[settle, settle, settle, settle, steer, fc.constant(new Reap())],
  ];
  const remembered = kinds.map((kind) => kind.map((command) => new Remembered(command, false)));
  const steps = [step, step, step].map((kind) => kind.map((command) => new Remembered(command, true)));
  const lose = fc.constant(new Lose('second'));
  return fc.commands([...remembered, ...steps, lose, lose], { maxCommands: mostCommands, size: 'max' });
}
