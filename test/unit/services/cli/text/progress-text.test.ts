import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { GAP, progressParts, progressSentence } from '../../../../../services/cli/text/progress-text.ts';
import type { RunView } from '../../../../../shared/control/run-watcher.ts';
import { progressOf } from '../../../../support/builders.ts';

const SENTENCE = "waiting for a.example: 60/min; 4 left, about 4.0 s; more workers won't help (--rate)";

function viewOf(sentence = SENTENCE, etaMs: number | undefined = 4_000): RunView {
  return {
    progress: progressOf({ discovered: 45, done: 38, skipped: 1, failed: 2, waiting: 4 }),
    bottleneck: { name: 'host', sentence, etaMs },
    rate: 12.34,
    hosts: [],
  };
}

function lineOf(columns: number, view = viewOf(), reading?: string): string {
  return progressParts(view, columns, reading)
    .map(({ text }) => text)
    .join(GAP);
}

// biome-ignore format: a table
test.each([
  [4,   ''],
  [11,  '41/45 pages'],
  [20,  '41/45 pages  12.3/s'],
  [30,  '41/45 pages  12.3/s  eta 4.0 s'],
  [40,  '41/45 pages  12.3/s  eta 4.0 s  2 failed'],
  [59,  '41/45 pages  12.3/s  eta 4.0 s  2 failed  waiting for…'],
  [79,  '41/45 pages  12.3/s  eta 4.0 s  2 failed  waiting for a.example: 60/min…'],
  [119, '█████████████████████░░  41/45 pages  12.3/s  eta 4.0 s  2 failed  waiting for a.example: 60/min; 4 left, about 4.0 s…'],
])('the progress line in %d columns shows the most useful parts, in whole words', (columns, expected) => {
  expect(lineOf(columns)).toBe(expected);
});

test('the progress line never exceeds the width of the terminal', () => {
  const views = [viewOf(), viewOf(`${'漢字'.repeat(40)} and more`), viewOf(''), viewOf('x'.repeat(300))];
  for (const view of views) {
    for (let columns = 1; columns <= 200; columns++)
      expect(stringWidth(lineOf(columns, view)), `${columns} columns`).toBeLessThanOrEqual(columns);
  }
});

test('while seeds are being read, the line shows the source instead of the bottleneck, and no eta', () => {
  expect(lineOf(79, viewOf(), '300 URLs so far, reading x')).toBe(
    '41/45 pages  12.3/s  2 failed  300 URLs so far, reading x',
  );
});

test('control characters in the bottleneck or the source are escaped', () => {
  const hostile = 'paused (\u001b[2J\n\u009b1A\u202e)';
  const shown = 'paused (\\u001b[2J\\u000a\\u009b1A\\u202e)';
  expect(lineOf(90, viewOf(hostile))).toContain(shown);
  expect(lineOf(90, viewOf(''), hostile)).toContain(shown);
});

test('a single page is called page, not pages', () => {
  const view = { ...viewOf(''), progress: progressOf({ discovered: 1, done: 1 }) };
  expect(lineOf(60, view)).toBe('1/1 page  12.3/s  eta 4.0 s');
});

test('the progress sentence has the same parts as the line', () => {
  expect(progressSentence(viewOf())).toBe(`Run r after 10 s: 41 of 45 pages, 2 failed, 12.3/s, eta 4.0 s; ${SENTENCE}`);
  expect(progressSentence(viewOf('', undefined))).toBe('Run r after 10 s: 41 of 45 pages, 2 failed, 12.3/s, eta 4.0 s');
  expect(progressSentence(viewOf(), 'reading x')).toBe('Run r after 10 s: 41 of 45 pages, 2 failed, 12.3/s; reading x');
});
