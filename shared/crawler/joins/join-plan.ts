import { nearestOf } from '../../settings/nearest-name.ts';
import type { JoinPlan, PlannedGroup, PlannedJoin } from '../../task/group/plan.ts';
import { FILE_STEP } from '../file-step.ts';
import type { Join } from './joins.ts';

/** Files can't be inputs, since many groups can ask for the same file, which is stored only once. */
const NO_FILES =
  'but joins take no files: emit page.resolve(link), which is the url of the file, and take the step that emits it';

/** The parts of a step that matter for joins. */
interface PlannedStep {
  readonly name: string;
  /** Its name in tasks. */
  readonly key: string;
  readonly to: readonly string[];
  readonly fallback?: string;
  readonly apart?: boolean;
}

interface Planned {
  readonly steps: readonly PlannedStep[];
  /** The steps where seeds can start. */
  readonly starts: readonly string[];
  readonly joins: readonly Join[];
}

/** Checks the joins of a crawler against its graph, and makes the plan that its runs follow. */
export class JoinPlanner {
  readonly #steps: ReadonlyMap<string, PlannedStep>;
  readonly #starts: readonly string[];
  readonly #joins: ReadonlyMap<string, Join>;

  constructor({ steps, starts, joins }: Planned) {
    this.#steps = new Map(steps.map((step) => [step.name, step]));
    this.#starts = starts;
    this.#joins = new Map(joins.map((join) => [join.name, join]));
  }

  /** Returns every problem, a sentence each. */
  problems(): string[] {
    const joins = [...this.#joins.values()];
    const named = joins.flatMap((join) => this.#nameProblems(join));
    // The other checks follow the names, so those must be right first.
    if (named.length > 0) return named;
    const problems = [...this.#nestingProblems(), ...joins.flatMap((join) => this.#takingProblems(join))];
    return problems.length > 0 ? problems : joins.flatMap((join) => this.#circle(join));
  }

  /** Returns the plan; undefined if the crawler has no joins. Call it only if there are no problems. */
  plan(): JoinPlan | undefined {
    if (this.#joins.size === 0) return undefined;
    const owners = this.#owners();
    const joins: Record<string, PlannedJoin> = {};
    for (const { name, per, of, deadlineMs } of this.#joins.values())
      joins[name] = {
        ...(per === undefined ? {} : { per: this.#keyOf(per) }),
        of: of.map((each) => this.#keyOf(each)),
        ...(deadlineMs === undefined ? {} : { deadlineMs: Math.ceil(deadlineMs) }),
      };
    return {
      joins,
      groups: Object.fromEntries(owners.map((owner) => [this.#keyOf(owner), this.#groupOf(owner)])),
      owners: Object.fromEntries(
        owners.flatMap((owner) => [...this.below(owner)].map((step) => [this.#keyOf(step), this.#keyOf(owner)])),
      ),
      run: this.#layers(undefined),
    };
  }

  /**
   * Returns the steps below an owner's step: those that the graph reaches from it. Stops before the owner's step itself, before steps that a
   * start reaches without passing it, and before steps that are `apart`.
   */
  below(owner: string): Set<string> {
    const outside = this.#reached(
      this.#starts.filter((start) => start !== owner),
      (name) => name !== owner,
    );
    const below = this.#reached(
      this.#next(owner),
      (name) => name !== owner && !outside.has(name) && this.#steps.get(name)?.apart !== true,
    );
    return below;
  }

  #groupOf(owner: string): PlannedGroup {
    const joins = [...this.#joins.values()].filter(({ per }) => per === owner);
    const takes = new Set(joins.flatMap(({ of }) => of).filter((name) => this.#steps.has(name)));
    return { layers: this.#layers(owner), takes: [...takes].map((name) => this.#keyOf(name)) };
  }

  /** Returns the joins of an owner's step, or of the run, in layers: each join comes after those that it takes. */
  #layers(owner: string | undefined): string[][] {
    const layers: string[][] = [];
    const depths = new Map<string, number>();
    const depthOf = (join: Join): number => {
      const known = depths.get(join.name);
      if (known !== undefined) return known;
      const taken = join.of.flatMap((name) => this.#joins.get(name) ?? []).filter(({ per }) => per === owner);
      const depth = Math.max(-1, ...taken.map(depthOf)) + 1;
      depths.set(join.name, depth);
      return depth;
    };
    for (const join of this.#joins.values()) {
      if (join.per !== owner) continue;
      const depth = depthOf(join);
      while (layers.length <= depth) layers.push([]);
      layers[depth]?.push(join.name);
    }
    return layers;
  }

  #owners(): string[] {
    return [...new Set([...this.#joins.values()].flatMap(({ per }) => per ?? []))];
  }

  #nameProblems({ name, per, of }: Join): string[] {
    const [steps, joins] = [[...this.#steps.keys()], [...this.#joins.keys()]];
    const unknown = of.filter((each) => !this.#steps.has(each) && !this.#joins.has(each));
    return [
      ...(this.#steps.has(name) ? [`join ${name} has the name of a step: choose another`] : []),
      ...(per === undefined || this.#steps.has(per) ? [] : [`join ${name} is per ${per}, ${noneOf(per, steps)}`]),
      ...(of.length === 0 ? [`join ${name} takes nothing: name steps or joins in its \`of\``] : []),
      ...unknown.map(
        (each) =>
          `join ${name} takes ${each}, ${each === FILE_STEP.key ? NO_FILES : noneOf(each, [...steps, ...joins])}`,
      ),
    ];
  }

  /** A step can be below two owners only if one of them is below the other, since all ways to it pass both. */
  #nestingProblems(): string[] {
    const owners = this.#owners();
    return owners.flatMap((owner) => {
      const above = owners.filter((each) => each !== owner && this.below(each).has(owner));
      if (above.length === 0) return [];
      const what = `step ${owner} has joins of its own, and is below ${above.join(' and ')}, which has joins`;
      return [`${what}: groups don't nest. Set apart: true in step ${owner} to keep it out of other groups`];
    });
  }

  #takingProblems({ name, per, of }: Join): string[] {
    if (per === undefined) return [];
    const below = this.below(per);
    return of.flatMap((each) => {
      const join = this.#joins.get(each);
      if (join !== undefined)
        return join.per === per ? [] : [`join ${name} is per ${per}, and takes join ${each}, which is not`];
      if (each === per || below.has(each)) return [];
      const why = this.#steps.get(each)?.apart === true ? 'which is apart' : `which is not below ${per}`;
      return [`join ${name} is per ${per}, and takes step ${each}, ${why}: it would never get one of its pages`];
    });
  }

  /** Returns the circle in which joins take each other; only for its first join, so that each circle is reported once. */
  #circle({ name }: Join): string[] {
    const open = [[name]];
    const seen = new Set<string>();
    for (let way = open.pop(); way !== undefined; way = open.pop()) {
      for (const next of this.#joins.get(way.at(-1) ?? '')?.of ?? []) {
        if (next === name) {
          const names = [...this.#joins.keys()];
          const isFirst = way.every((each) => names.indexOf(name) <= names.indexOf(each));
          return isFirst ? [`joins take each other in a circle: ${[...way, name].join(', ')}`] : [];
        }
        if (seen.has(next) || !this.#joins.has(next)) continue;
        seen.add(next);
        open.push([...way, next]);
      }
    }
    return [];
  }

  /** Returns the steps that a task of a step can lead to, those of its fallbacks included, which take over in its place. */
  #next(name: string): string[] {
    const next: string[] = [];
    const seen = new Set<string>();
    for (let at: string | undefined = name; at !== undefined && !seen.has(at); at = this.#steps.get(at)?.fallback) {
      seen.add(at);
      next.push(...(this.#steps.get(at)?.to ?? []));
    }
    return next;
  }

  #reached(from: readonly string[], mayPass: (name: string) => boolean): Set<string> {
    const reached = new Set<string>();
    const open = [...from];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (reached.has(name) || !this.#steps.has(name) || !mayPass(name)) continue;
      reached.add(name);
      open.push(...this.#next(name));
    }
    return reached;
  }

  #keyOf(name: string): string {
    return this.#steps.get(name)?.key ?? name;
  }
}

function noneOf(name: string, names: readonly string[]): string {
  const nearest = nearestOf(name, names);
  return nearest === undefined
    ? `which is none of ${names.join(', ')}`
    : `which does not exist: did you mean ${nearest}?`;
}
