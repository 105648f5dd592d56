import fc from 'fast-check';
import { JoinPlanner } from '../../../../shared/crawler/joins/join-plan.ts';
import type { Join } from '../../../../shared/crawler/joins/joins.ts';
import type { JoinPlan } from '../../../../shared/task/group/plan.ts';

/** Lists lead to products. A product leads to `a` and `b`, which lead to each other, and to a seller outside its group. */
const STEPS = [
  { name: 'list', key: '', to: ['product', 'list'] },
  { name: 'product', key: 'product', to: ['a', 'b', 'seller', 'product', 'list'] },
  { name: 'a', key: 'a', to: ['a', 'b', 'list'] },
  { name: 'b', key: 'b', to: ['a', 'seller'] },
  { name: 'seller', key: 'seller', to: [], apart: true },
] as const;

const taken = fc.subarray(['product', 'a', 'b'], { minLength: 1 });
const layers = fc.nat(2);

/** Random plans with joins in up to three layers, with and without joins of the run. */
export const plans: fc.Arbitrary<JoinPlan> = fc
  .record({ first: taken, second: taken, width: layers, depth: layers, run: layers })
  .map(({ first, second, width, depth, run: ofRun }) => {
    const joins: Join[] = [];
    const add = (name: string, of: readonly string[], per?: string): void => {
      joins.push({ name, of, run: () => undefined, ...(per === undefined ? {} : { per }) });
    };
    for (let i = 0; i <= width; i++) add(`j${i}`, first, 'product');
    if (depth > 0) add('k', [...second, 'j0'], 'product');
    if (depth > 1) add('l', ['k'], 'product');
    if (ofRun > 0) add('r', ['j0']);
    if (ofRun > 1) add('s', ['r', 'list']);
    const planner = new JoinPlanner({ steps: STEPS, starts: ['list', 'product'], joins });
    const plan = planner.plan();
    if (plan === undefined || planner.problems().length > 0) throw new Error(planner.problems().join());
    return plan;
  });
