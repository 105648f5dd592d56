import { expect } from 'vitest';
import { nameOf, type Offer, type ReleasedTask, type Settlement } from '../../../../shared/ports/frontier/frontier.ts';
import { groupOfChild, type JoinPlan } from '../../../../shared/task/group/plan.ts';
import { INITIAL_FIELDS } from '../../../../shared/task/task/form.ts';
import { markOf } from '../../../../shared/task/url/fingerprint.ts';
import type { Store } from '../../../support/stores/stores.ts';
import { OPTIONS } from '../../suites/frontier/frontier-setup.ts';
import type { Event } from './events.ts';
import { GroupModel, type GroupTask } from './model.ts';

/** A task in a worker's hands, whatever the store has lost since. */
interface Hand {
  readonly task: ReleasedTask;
  readonly tally: { readonly stamp: string; readonly links: number };
  readonly hasClaimed: string | undefined;
}

/** Marks a history with a loss, which can't be replayed from its events. */
const NEVER = -1;

/** Runs events on the stores under test and on their model, and compares them. */
export class History {
  readonly #open: () => Promise<Store[]>;
  readonly #plan: JoinPlan;
  #stores: Store[] = [];
  #model: GroupModel;
  #hands: Hand[] = [];
  #stamps = 0;
  #past: Event[] = [];
  #saved = 0;

  constructor(open: () => Promise<Store[]>, plan: JoinPlan) {
    this.#open = open;
    this.#plan = plan;
    this.#model = new GroupModel(plan, 0);
  }

  async close(): Promise<void> {
    for (const store of this.#stores.splice(0)) await store.close();
  }

  async begin(): Promise<void> {
    await this.close();
    this.#stores = await this.#open();
    this.#model = new GroupModel(this.#plan, this.#stores[0]?.now() ?? 0);
    this.#hands = [];
    await this.#ask((store) => store.runs.open('r', { ...OPTIONS, dedup: 'run', joins: this.#plan }, 'p'));
  }

  async run(event: Event): Promise<void> {
    if (event.kind === 'lose') {
      if (this.#saved === NEVER) return;
      await this.#lose();
      return;
    }
    await this.#happen(event);
    this.#past.push(event);
    if (event.kind === 'save' && this.#saved !== NEVER) this.#saved = this.#past.length;
    await this.#check();
  }

  /** Brings the stores back to their last save. Workers keep what they have in hand. */
  async #lose(): Promise<void> {
    const [hands, stamps, now] = [this.#hands, this.#stamps, this.#model.now];
    const kept = this.#past.slice(0, this.#saved);
    await this.begin();
    this.#stamps = 0;
    for (const event of kept) await this.#happen(event);
    await this.#step(now - this.#model.now + 1_000);
    this.#hands = hands;
    this.#stamps = stamps + 1_000;
    // From here on, the history can't be replayed from its events alone.
    this.#past = kept;
    this.#saved = NEVER;
    await this.#check();
  }

  async #happen(event: Event): Promise<void> {
    switch (event.kind) {
      case 'seed':
        return await this.#seed(event.path, event.step);
      case 'take':
        return await this.#take(event.limit);
      case 'follow':
        return await this.#follow(event);
      case 'claim':
        return await this.#claim(event.which, event.path);
      case 'settle':
        return await this.#settle(event);
      case 'lapse': {
        await this.#step(65_000);
        const lapsed = this.#model.tasks.filter(({ where }) => where === 'flight');
        expect(await this.#ask((store) => store.port.reap())).toBe(lapsed.length);
        for (const task of lapsed) this.#model.putBack(task);
        if (lapsed.length > 0) this.#model.finishIfDone();
        return;
      }
      case 'drain': {
        const waiting = this.#model.tasks.filter(({ where }) => where === 'waiting');
        const dropped = this.#model.state === 'cancelled' ? waiting : [];
        expect(await this.#ask((store) => store.port.drain())).toBe(dropped.length);
        for (const task of dropped) this.#model.end(task, 'cancelled');
        return;
      }
      case 'cancel':
        await this.#ask((store) => store.runs.cancel('r'));
        if (this.#model.state === 'running') this.#model.state = 'cancelled';
        return;
      case 'seal':
        await this.#ask((store) => store.runs.seal('r'));
        if (this.#model.state === 'cancelled') return;
        this.#model.isSealed = true;
        this.#model.finishIfDone();
        return;
      case 'open':
        await this.#ask((store) => store.runs.open('r', OPTIONS, 'p'));
        if (this.#model.state === 'cancelled') return;
        this.#model.isSealed = false;
        this.#model.state = 'running';
        return;
      case 'save':
        await this.#step(1_000);
        return;
      default:
    }
  }

  async #seed(n: number, at: string): Promise<void> {
    const offer = offerOf(n, at);
    const result = await this.#ask((store) => store.port.offer('r', [offer]));
    if (this.#model.state !== 'running') {
      expect(result).toEqual({ refused: 'run' });
      return;
    }
    const isKnown = this.#model.isKnown(offer.mark, undefined);
    expect(result).toEqual({ accepted: isKnown ? 0 : 1, known: isKnown ? 1 : 0 });
    if (!isKnown) this.#accept(offer, undefined);
  }

  async #take(limit: number): Promise<void> {
    const { tasks } = await this.#ask((store) => store.port.release({ limit, window: 1_000, unpaced: false }));
    for (const task of tasks) {
      const { mark } = task.task;
      const own = this.#model.tasks.find((each) => each.where === 'waiting' && each.mark === mark);
      if (own === undefined) throw new Error(`${mark} was released, and did not wait`);
      Object.assign(own, { where: 'flight', release: task.release, tally: undefined });
      const admission = await this.#ask((store) => store.port.admit('r', nameOf(task), 'w'));
      own.starts++;
      if (admission.verdict !== 'work' && admission.verdict !== 'crash_loop')
        throw new Error(`${mark} is to be worked on, not ${admission.verdict}`);
      this.#hands.push({ task, tally: { stamp: `s${++this.#stamps}`, links: 0 }, hasClaimed: undefined });
      if (own.isJoin && own.group !== 'run') await this.#expectInputs(task, own);
    }
  }

  async #expectInputs(task: ReleasedTask, { group = '' }: GroupTask): Promise<void> {
    const given = await this.#ask((store) => store.port.inputs('r', nameOf(task)));
    expect(given).toMatchObject({ ...this.#model.inputsOf(group), isTooLarge: false });
    if (given === 'stale') return;
    expect(Object.keys(given.inputs)).toHaveLength(Object.keys(this.#model.inputsOf(group).inputs).length);
    const missing = Object.values(given.missing).reduce((sum, count) => sum + count, 0);
    expect(given.firstMissing).toHaveLength(missing);
  }

  async #follow({ which: chosen, step: to, paths, isRepeated }: Event & { kind: 'follow' }): Promise<void> {
    const hand = this.#handAt(chosen);
    if (hand === undefined || hand.task.task.join !== undefined) return;
    const { task, tally } = hand;
    const group = groupOfChild(this.#plan, task.task, to);
    const offers = paths.map((n) => offerOf(n, to, group));
    for (const isAgain of isRepeated ? [false, true] : [false]) {
      const own = this.#model.flight(task.task.mark, task.release);
      const result = await this.#ask((store) => store.port.offer('r', offers, { parent: { ...nameOf(task), tally } }));
      if (this.#model.state !== 'running') {
        expect(result).toEqual({ refused: 'run' });
        return;
      }
      const held = own?.tally?.stamp === tally.stamp ? own.tally.links : 0;
      if (own === undefined || held < tally.links) {
        expect(result).toEqual({ refused: 'parent' });
        if (own !== undefined) this.#model.putBack(own);
        this.#hands = this.#hands.filter((each) => each !== hand);
        return;
      }
      own.tally = { stamp: tally.stamp, links: Math.max(held, tally.links + offers.length) };
      let accepted = 0;
      for (const offer of offers) {
        if (this.#model.isKnown(offer.mark, group)) continue;
        accepted++;
        const child = this.#accept(offer, group);
        if (group !== undefined) this.#model.joinGroup(own, child);
      }
      expect(result).toEqual({ accepted, known: offers.length - accepted });
      if (!isAgain) this.#replace(hand, { ...hand, tally: { ...tally, links: tally.links + offers.length } });
    }
  }

  async #claim(chosen: number, n: number): Promise<void> {
    const hand = this.#handAt(chosen);
    const group = hand === undefined ? undefined : this.#groupOf(hand);
    if (hand === undefined || group === undefined) return;
    const { task } = hand;
    const mark = markOf(`http://a.test/moved-${n}`, task.task.step, undefined, group);
    const own = this.#model.flight(task.task.mark, task.release);
    const result = await this.#ask((store) => store.port.claim('r', nameOf(task), mark));
    const marks = this.#model.groups.get(group)?.marks;
    const isOwn = own?.claimed === mark;
    expect(result).toBe(own === undefined ? 'stale' : isOwn || marks?.has(mark) !== true ? 'claimed' : 'taken');
    if (own === undefined || result !== 'claimed') return;
    if (own.claimed !== undefined) marks?.delete(own.claimed);
    own.claimed = mark;
    marks?.add(mark);
    this.#replace(hand, { ...hand, hasClaimed: mark });
  }

  async #settle({ which: chosen, as, isRepeated }: Event & { kind: 'settle' }): Promise<void> {
    const hand = this.#handAt(chosen);
    if (hand === undefined) return;
    const { task, tally, hasClaimed } = hand;
    const input = `${task.task.mark} ${task.release}`;
    const settlement: Settlement = {
      outcome: as,
      ...(as.kind === 'done' ? { input, ...(hasClaimed === undefined ? {} : { claimed: hasClaimed }) } : {}),
      ...(tally.links === 0 ? {} : { tally }),
    };
    const own = this.#model.flight(task.task.mark, task.release);
    const held = own?.tally?.stamp === tally.stamp ? own.tally.links : 0;
    const isLacking = own !== undefined && as.kind === 'done' && held < tally.links;
    const result = await this.#ask((store) => store.port.settle('r', nameOf(task), settlement));
    expect(result).toBe(own === undefined ? 'already' : isLacking ? 'put_back' : 'settled');
    if (isRepeated)
      expect(await this.#ask((store) => store.port.settle('r', nameOf(task), settlement))).toBe('already');
    this.#hands = this.#hands.filter((each) => each !== hand);
    if (own === undefined) return;
    const group = this.#groupOf(hand);
    if (!isLacking && as.kind === 'done' && hasClaimed !== undefined && group !== undefined)
      this.#model.groups.get(group)?.marks.add(hasClaimed);
    if (isLacking || as.kind === 'retry' || as.kind === 'defer') this.#model.putBack(own);
    else this.#model.end(own, as.kind, as.kind === 'done' ? input : undefined);
    this.#model.finishIfDone();
  }

  /** Checks the identity and the counts of each group, and that no join was created too soon, twice or never. */
  async #check(): Promise<void> {
    const progress = await this.#ask((store) => store.runs.progress('r'));
    const model = this.#model;
    const open = [...model.groups.entries()].filter(([, group]) => model.isOpen(group));
    expect(progress).toMatchObject({
      ...{ discovered: model.tasks.length, waiting: model.count('waiting'), inFlight: model.count('flight') },
      ...{ done: model.count('done'), skipped: model.count('skipped'), failed: model.count('failed') },
      ...{ cancelled: model.count('cancelled'), state: model.state, openGroups: open.length },
    });
    for (const [id, group] of model.groups) {
      const standing = await this.#ask((store) => store.port.group('r', id));
      const owner = await this.#ask((store) => store.port.owner('r', id));
      const joins = (group.layers.at(-1) ?? []).filter(({ where }) => where === 'waiting' || where === 'flight');
      const expected = { open: model.openMembers(group), joins: joins.length };
      expect(standing).toEqual(model.isOpen(group) ? expected : undefined);
      expect(owner?.task.mark).toBe(model.isOpen(group) ? group.owner.mark : undefined);
    }
  }

  #accept({ mark, step: at }: { mark: string; step: string }, group: string | undefined): GroupTask {
    if (group === undefined) this.#model.marks.add(mark);
    return this.#model.add(mark, at, group);
  }

  #handAt(chosen: number): Hand | undefined {
    return this.#hands[chosen % Math.max(1, this.#hands.length)];
  }

  #groupOf({ task: { task } }: Hand): string | undefined {
    return task.join === undefined && task.mark.includes(' @')
      ? task.mark.slice(task.mark.lastIndexOf('@') + 1)
      : undefined;
  }

  #replace(hand: Hand, by: Hand): void {
    this.#hands = this.#hands.map((each) => (each === hand ? by : each));
  }

  async #step(ms: number): Promise<void> {
    this.#model.now += ms;
    for (const store of this.#stores) store.step(ms);
  }

  async #ask<T>(question: (store: Store) => Promise<T>): Promise<T> {
    const answers = await Promise.all(this.#stores.map(question));
    const [first, ...others] = answers as [T, ...T[]];
    for (const other of others) expect(other, 'the stores agree').toEqual(first);
    return first;
  }
}

function offerOf(n: number, at: string, group?: string): Extract<Offer, { url: string }> {
  const url = `http://a.test/${n}`;
  return { ...INITIAL_FIELDS, url, step: at, host: 'a.test', queue: 'normal', mark: markOf(url, at, undefined, group) };
}
