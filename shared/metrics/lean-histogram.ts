import type { Metric, MetricValueWithName, Registry } from 'prom-client';

/** The counts under one set of labels. */
interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** By bucket, not cumulative; the last is for what is above all of them. */
  readonly counts: Float64Array;
  sum: number;
}

interface LeanHistogramOptions {
  readonly name: string;
  readonly help: string;
  /** Two at most. */
  readonly labels?: readonly string[];
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
  readonly registry: Registry;
}

/**
 * A histogram for what happens several times a page. The client's own makes a text of the labels for each observation, and hashes it;
 * this one looks its series up. To the registry it is a metric like any other.
 */
export class LeanHistogram {
  readonly #options: LeanHistogramOptions;
  readonly #series = new Map<string, Map<string, Series>>();

  constructor(options: LeanHistogramOptions) {
    this.#options = options;
    const { name, help, labels = [], registry } = options;
    if (labels.length === 0) this.#seriesOf('', '');
    const about = { name, help, type: 'histogram', aggregator: 'sum' };
    const metric = { ...about, get: async () => ({ ...about, values: this.#values() }) };
    registry.registerMetric(metric as unknown as Metric);
  }

  /** @param first the values of the labels, in their order */
  observe(value: number, first = '', second = ''): void {
    const series = this.#series.get(first)?.get(second) ?? this.#seriesOf(first, second);
    const { buckets } = this.#options;
    let at = 0;
    while (at < buckets.length && value > (buckets[at] ?? 0)) at++;
    series.counts[at] = (series.counts[at] ?? 0) + 1;
    series.sum += value;
  }

  #seriesOf(first: string, second: string): Series {
    const { labels: names = [], buckets } = this.#options;
    const values = [first, second];
    const labels = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
    const series: Series = { labels, counts: new Float64Array(buckets.length + 1), sum: 0 };
    const seconds = this.#series.get(first) ?? new Map<string, Series>();
    seconds.set(second, series);
    this.#series.set(first, seconds);
    return series;
  }

  /** As the registry and its sums over processes expect it. */
  #values(): MetricValueWithName<string>[] {
    const { name, buckets } = this.#options;
    const values: MetricValueWithName<string>[] = [];
    for (const seconds of this.#series.values()) {
      for (const { labels, counts, sum } of seconds.values()) {
        let count = 0;
        counts.forEach((inBucket, at) => {
          count += inBucket;
          values.push({ metricName: `${name}_bucket`, labels: { le: buckets[at] ?? '+Inf', ...labels }, value: count });
        });
        values.push({ metricName: `${name}_sum`, labels, value: sum });
        values.push({ metricName: `${name}_count`, labels, value: count });
      }
    }
    return values;
  }
}
