import { expect, onTestFinished, test, vi } from 'vitest';
import { ProgressLine } from '../../../../../services/cli/text/progress-line.ts';
import { ProgressSentences } from '../../../../../services/cli/text/progress-sentences.ts';
import { tellingOf } from '../../../../../services/cli/text/teller.ts';
import type { RunView } from '../../../../../shared/control/run-watcher.ts';
import { progressOf } from '../../../../support/builders.ts';

const VIEW: RunView = {
  progress: progressOf({ discovered: 45, done: 41, waiting: 4 }),
  bottleneck: { name: 'none', sentence: 'waiting for a.example: 60/min', etaMs: 4_000 },
  rate: 12,
  hosts: [],
};

/** Captures standard error. The function it returns gives what was written since its last call. */
function written(): () => string {
  let text = '';
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((part) => {
    text += part;
    return true;
  });
  onTestFinished(() => spy.mockRestore());
  return () => {
    const before = text;
    text = '';
    return before;
  };
}

function resizeTo(columns: number): void {
  Object.defineProperty(process.stderr, 'columns', { value: columns, configurable: true });
  process.stderr.emit('resize');
}

test('the progress line is cleared, drawn without wrapping, and left with the cursor shown at its beginning', () => {
  const text = written();
  const line = new ProgressLine();
  onTestFinished(() => line.clear());
  resizeTo(46);
  line.show(VIEW);
  expect(text()).toBe(
    '\u001b[?25l\r\u001b[J\u001b[?7l41/45 pages  12.0/s  eta 4.0 s  waiting for…\u001b[?7h\r\u001b[?25h',
  );
});

test('the progress line is redrawn within the new width after a resize, but not once it is cleared', () => {
  const text = written();
  const line = new ProgressLine();
  resizeTo(60);
  line.show(VIEW);
  text();
  resizeTo(15);
  expect(text()).toContain('\u001b[?7l41/45 pages\u001b[?7h\r');
  line.clear();
  expect(text()).toBe('\r\u001b[J');
  resizeTo(80);
  line.clear();
  expect(text(), 'it is gone').toBe('');
});

test('progress sentences tell the start and then the state, but not the end of the run', () => {
  const text = written();
  const sentences = new ProgressSentences();
  expect(sentences.everyMs).toBe(30_000);
  sentences.show(VIEW);
  expect(text()).toBe('Run r is under way; progress every 30 s (--quiet for none)\n');
  sentences.show(VIEW);
  expect(text()).toBe('Run r after 10 s: 41 of 45 pages, 12.0/s, eta 4.0 s; waiting for a.example: 60/min\n');
  sentences.show({ ...VIEW, progress: progressOf({ endedAt: 10_000 }) });
  expect(text()).toBe('');
});

test('a progress line is drawn only on a capable terminal without --json or --quiet', () => {
  const { isTTY } = process.stderr;
  onTestFinished(() => {
    Object.defineProperty(process.stderr, 'isTTY', { value: isTTY, configurable: true });
    vi.unstubAllEnvs();
  });
  const tellings = (isTerminal: boolean, terminal: string): string[] => {
    Object.defineProperty(process.stderr, 'isTTY', { value: isTerminal, configurable: true });
    vi.stubEnv('TERM', terminal);
    return [{}, { json: true }, { quiet: true }].map(tellingOf);
  };
  expect(tellings(true, 'xterm-256color')).toEqual(['line', 'sentences', 'nothing']);
  expect(tellings(true, 'dumb')).toEqual(['sentences', 'sentences', 'nothing']);
  expect(tellings(false, 'xterm-256color')).toEqual(['sentences', 'sentences', 'nothing']);
});
