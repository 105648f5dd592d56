import type { Model } from './model.ts';
import type { Command, Message, World } from './world.ts';

/** A command that is remembered, so that a store can be brought back to what it knew before. */
export class Remembered implements Command {
  readonly #command: Command;
  /** By then, what was done before is on the disk. */
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
 * A power cut, or a replica that takes over: the stores lose what they learnt in their last second. The messages of that
 * time are still about. `time`: they lose the time as well, and come back with that of then.
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

/** What a loss of the stores leaves: messages, and what workers have in hand. */
type Left = Pick<World, 'visits' | 'stamps'> & { readonly messages: readonly Message[] };

/** The stores are back, and messages and visits that they know nothing of are about. */
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
