import type { JoinPlan } from './plan.ts';

/** Returns options without joins of the run. For replays and other runs that hold only part of the work: they have nothing to report on. */
export function withoutRunJoins<Options extends { readonly joins?: JoinPlan }>(options: Options): Options {
  return options.joins === undefined ? options : { ...options, joins: { ...options.joins, run: [] } };
}
