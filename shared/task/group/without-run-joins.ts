import type { JoinPlan } from './plan.ts';

/** The same options without joins of the run: what is only a part of a run has nothing to report on. */
export function withoutRunJoins<Options extends { readonly joins?: JoinPlan }>(options: Options): Options {
  return options.joins === undefined ? options : { ...options, joins: { ...options.joins, run: [] } };
}
