import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { LeanHistogram } from '../../../../shared/metrics/lean-histogram.ts';

const BUCKETS = [0.01, 0.1, 1];

/** The lines of an exposition, sorted: the order of series is nobody's promise. */
async function linesOf(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split('\n').toSorted();
}

test.each([
  ['no label', []],
  ['one label', ['outcome']],
  ['two labels', ['store', 'operation']],
])(
  'with %s it exports what the client’s own histogram does, and sums over processes the same way',
  async (_, labels) => {
    const [lean, own] = [new Registry(), new Registry()];
    const options = { name: 'a_seconds', help: 'A.', buckets: BUCKETS };
    const leanOne = new LeanHistogram({ ...options, labels, registry: lean });
    const ownOne = new Histogram({ ...options, labelNames: labels, registers: [own] });
    expect(await linesOf(lean)).toEqual(await linesOf(own));
    for (const value of [0, 0.01, 0.010_1, 0.5, 1, 1.000_1, 99]) {
      for (const values of [
        ['x', 'y'],
        ['x', 'z'],
        ['a "quoted" one', 'y'],
      ]) {
        const named = values.slice(0, labels.length);
        leanOne.observe(value, ...(named as [string?, string?]));
        ownOne.observe(Object.fromEntries(labels.map((name, index) => [name, named[index] ?? ''])), value);
      }
    }
    expect(await linesOf(lean)).toEqual(await linesOf(own));
    const summed = async (registry: Registry) => {
      const { AggregatorRegistry } = await import('prom-client');
      const said = JSON.parse(JSON.stringify(await registry.getMetricsAsJSON()));
      return await linesOf(AggregatorRegistry.aggregate([said, said]));
    };
    expect(await summed(lean)).toEqual(await summed(own));
  },
);
