import type { Metric, MetricValueWithName, Registry } from 'prom-client';

/** The counts for one set of label values. */
interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** Observations by bucket, not cumulative. The last entry counts those above all buckets. */
  readonly counts: Float64Array;
  sum: number;
}

interface LeanHistogramOptions {
  readonly name: string;
  readonly help: string;
  /** Names of labels, at most two. */
  readonly labels?: readonly string[];
  /** Upper bounds of the buckets, ascending. */
  readonly buckets: readonly number[];
  readonly registry: Registry;
}

/**
 * A histogram for events that happen several times a page. The histogram of prom-client builds and hashes a string of the labels for each
 * observation; this one looks up its series. To the registry it is a metric like any other.
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

  /** Counts one observation. `first` and `second` are the values of the labels, in their order. */
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

  /** Returns the values in the form that the registry, and the sums over processes, expect. */
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
