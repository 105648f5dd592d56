import { nearestOf } from '../settings/nearest-name.ts';

/** A step, as its place in the graph goes. */
export interface GraphStep {
  readonly name: string;
  readonly to: readonly string[];
  /** The step that takes over when this one fails. */
  readonly fallback?: string;
}

/** The steps of a crawler and what leads where. The first one is where seeds start. */
export class StepGraph {
  readonly #steps: ReadonlyMap<string, GraphStep>;
  readonly #starts: readonly string[];
  readonly #order: ReadonlyMap<string, number>;
  readonly #below: ReadonlyMap<string, ReadonlySet<string>>;

  /** @param starts the steps that seeds may start at */
  constructor(steps: readonly GraphStep[], starts: readonly string[]) {
    this.#steps = new Map(steps.map((step) => [step.name, step]));
    this.#starts = starts;
    this.#order = new Map(steps.map(({ name }, at) => [name, at]));
    this.#below = new Map(steps.map(({ name }) => [name, this.#reachedFrom([name])]));
  }

  /** All that is wrong with it, a sentence each. */
  problems(): string[] {
    const names = [...this.#steps.keys()];
    const unknown = [...this.#steps.values()].flatMap(({ name, to, fallback }) => [
      ...to
        .filter((each) => !this.#steps.has(each))
        .map((each) => `step ${name} leads to ${each}, ${noStep(each, names)}`),
      ...(fallback === undefined || this.#steps.has(fallback)
        ? []
        : [`step ${name} falls back to ${fallback}, ${noStep(fallback, names)}`]),
    ]);
    const starts = this.#starts.filter((each) => this.#steps.has(each));
    const reached = new Set([...starts, ...this.#reachedFrom(starts)]);
    const lost = names.filter((name) => !reached.has(name));
    return [
      ...unknown,
      ...names.flatMap((name) => this.#fallbackCircle(name)),
      ...lost.map((name) => `step ${name} can't be reached: no step leads to it, and it has no pattern`),
    ];
  }

  /**
   * Does a link from one step to another go round in a circle? Only such links make pages deeper, and of each circle only the
   * one that leads back, so that depth counts rounds.
   */
  isLoop(from: string, to: string): boolean {
    const [earlier = 0, later = 0] = [this.#order.get(to), this.#order.get(from)];
    return earlier <= later && (from === to || this.#below.get(to)?.has(from) === true);
  }

  /** The circle that a step's fallbacks go round in, told by the first of its steps. */
  #fallbackCircle(name: string): string[] {
    const way = [name];
    for (let next = this.#steps.get(name)?.fallback; next !== undefined; next = this.#steps.get(next)?.fallback) {
      if (next !== name) {
        if (way.includes(next)) return [];
        way.push(next);
        continue;
      }
      const isFirst = way.every((each) => (this.#order.get(name) ?? 0) <= (this.#order.get(each) ?? 0));
      return isFirst ? [`fallbacks go round in a circle: ${[...way, name].join(', ')}`] : [];
    }
    return [];
  }

  #reachedFrom(starts: readonly string[]): Set<string> {
    const reached = new Set<string>();
    const open = [...starts];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      const { to = [], fallback } = this.#steps.get(name) ?? {};
      for (const next of fallback === undefined ? to : [...to, fallback]) {
        if (reached.has(next)) continue;
        reached.add(next);
        open.push(next);
      }
    }
    return reached;
  }
}

/** The end of a sentence about a name that isn't there. */
export function noStep(name: string, names: readonly string[]): string {
  if (names.length === 0) return 'which is no step';
  const nearest = nearestOf(name, names);
  return nearest === undefined
    ? `which is no step; there are ${names.join(', ')}`
    : `which is no step: did you mean ${nearest}?`;
}
