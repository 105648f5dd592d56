import { nearestOf } from '../settings/nearest-name.ts';
import { FILE_STEP } from './file-step.ts';

/** A step's place in the graph. */
export interface GraphStep {
  readonly name: string;
  readonly to: readonly string[];
  /** The step that takes over when this one fails. */
  readonly fallback?: string;
}

/** The steps of a crawler and the links between them. Seeds start at the first step. */
export class StepGraph {
  readonly #steps: ReadonlyMap<string, GraphStep>;
  readonly #starts: readonly string[];
  readonly #order: ReadonlyMap<string, number>;
  readonly #below: ReadonlyMap<string, ReadonlySet<string>>;

  /** @param starts the steps where seeds can start */
  constructor(steps: readonly GraphStep[], starts: readonly string[]) {
    this.#steps = new Map(steps.map((step) => [step.name, step]));
    this.#starts = starts;
    this.#order = new Map(steps.map(({ name }, at) => [name, at]));
    this.#below = new Map(steps.map(({ name }) => [name, this.#reachedFrom([name])]));
  }

  /** Returns every problem in the graph, a sentence each. */
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
   * Returns whether a link from one step to another closes a circle. Only such links make pages deeper, and only one per circle, the one
   * that leads back, so that depth counts rounds.
   */
  isLoop(from: string, to: string): boolean {
    const [earlier = 0, later = 0] = [this.#order.get(to), this.#order.get(from)];
    return earlier <= later && (from === to || this.#below.get(to)?.has(from) === true);
  }

  /** Returns the circle that a step's fallbacks form; only for the first step of the circle, so that each is reported once. */
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

/** Returns the end of a sentence about the name of a step that doesn't exist. */
export function noStep(name: string, names: readonly string[]): string {
  if (name === FILE_STEP.name) return 'which is no step: download(links) stores files';
  if (names.length === 0) return 'which is no step';
  const nearest = nearestOf(name, names);
  return nearest === undefined
    ? `which is no step; there are ${names.join(', ')}`
    : `which is no step: did you mean ${nearest}?`;
}
