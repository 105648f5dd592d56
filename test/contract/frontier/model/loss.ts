import type { Model } from './model.ts';
import type { Command, Message, World } from './world.ts';

/** A command that is recorded, so that a store can be brought back to an earlier state. */
export class Remembered implements Command {
  readonly #command: Command;
  /** Whether everything up to this command is on disk afterwards. */
  readonly #isSaving: boolean;

  constructor(command: Command, isSaving: boolean) {
    this.#command = command;
    this.#isSaving = isSaving;
  }

  check(model: Readonly<Model>): boolean {
    return this.#command.check(model);
  }

  async run(model: Model, world: World): Promise<void> {
    await this.#command.run(model, world);
    world.history.push(this.#command);
    if (this.#isSaving) world.saved = world.history.length;
  }

  toString(): string {
    return this.#command.toString();
  }
}

/**
 * A power cut or a failover to a replica: the stores lose the writes of their last second, but the messages sent in it
 * still exist. With `time`, the stores also come back with the time of their last save.
 */
export class Lose implements Command {
  readonly #lost: 'second' | 'time';

  constructor(lost: 'second' | 'time') {
    this.#lost = lost;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, world: World): Promise<void> {
    const { clock, now } = model;
    const { messages, visits, stamps } = world;
    const kept = world.history.slice(0, world.saved);
    await world.begin();
    model.begin();
    model.isRepeating = true;
    for (const command of kept) await command.run(model, world);
    const restart = new Restart({ messages, visits, stamps }, this.#lost === 'time' ? 0 : clock + 1_000 - model.clock);
    await restart.run(model, world);
    model.isRepeating = false;
    if (model.now <= now) world.numbersMayRepeat = true;
    world.history = [...kept, restart];
    world.saved = kept.length + 1;
  }

  toString(): string {
    return `lose ${this.#lost}`;
  }
}

/** What survives a loss of the stores: messages and the visits of workers. */
type Left = Pick<World, 'visits' | 'stamps'> & { readonly messages: readonly Message[] };

/** Brings back messages and visits that the restored stores do not know. */
class Restart implements Command {
  readonly #left: Left;
  readonly #ms: number;

  constructor(left: Left, ms: number) {
    this.#left = left;
    this.#ms = ms;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, world: World): Promise<void> {
    const { messages, visits, stamps } = this.#left;
    world.messages = [...messages];
    world.visits = visits;
    world.stamps = stamps;
    model.step(this.#ms);
    await world.step(this.#ms);
  }

  toString(): string {
    return 'restart';
  }
}
