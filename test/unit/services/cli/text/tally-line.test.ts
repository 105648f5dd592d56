import { stripVTControlCharacters } from 'node:util';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { TallyLine, withTally } from '../../../../../services/cli/text/tally-line.ts';

const CLEARED = '\r\u001b[J';
let written = '';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  written = '';
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((part) => {
    written += part;
    return true;
  });
  onTestFinished(() => {
    spy.mockRestore();
    vi.useRealTimers();
    setTerminal(process.stdout, false);
  });
  setTerminal(process.stdout, true);
});

function setTerminal(stream: NodeJS.WriteStream, isTTY: boolean): void {
  Object.defineProperty(stream, 'isTTY', { value: isTTY, configurable: true });
}

/** Makes 20 additions within two seconds and returns what they draw. */
function drawn(tally: TallyLine, of?: number): string[] {
  for (let n = 0; n < 20; n++) {
    vi.advanceTimersByTime(100);
    tally.add(600, of);
  }
  return written.split(CLEARED).map((text) => stripVTControlCharacters(text).replaceAll('\r', ''));
}

test('work that takes longer than a second is counted on the terminal, five times a second', () => {
  const tally = new TallyLine({ telling: 'line' }, { what: 'marks looked at' });
  onTestFinished(() => tally.clear());
  const lines = ['6 000', '7 200', '8 400', '9 600', '10 800', '12 000'].map((n) => `${n} marks looked at`);
  expect(drawn(tally)).toEqual(['', ...lines]);
});

test('the total is shown if it is known, and is never lower than the count', () => {
  const tally = new TallyLine({ telling: 'line' }, { what: 'dropped' });
  onTestFinished(() => tally.clear());
  const lines = ['6 000 of 10 000', '7 200 of 10 000', '8 400 of 10 000', '9 600 of 10 000'];
  expect(drawn(tally, 10_000)).toEqual(
    ['', ...lines, '10 800 of 10 800', '12 000 of 12 000'].map((n) => n && `${n} dropped`),
  );
});

test('no tally is drawn for scripts, or while the command itself prints on the terminal', () => {
  expect(drawn(new TallyLine({ telling: 'sentences' }, { what: 'x' }))).toEqual(['']);
  expect(drawn(new TallyLine({ telling: 'line' }, { what: 'x', isPrinting: true }))).toEqual(['']);
});

test('the tally is cleared before an error is printed, and as soon as the command is interrupted', async () => {
  const failing = withTally({ telling: 'line' }, { what: 'x' }, async (tally) => {
    drawn(tally);
    throw new Error('broken');
  });
  await expect(failing).rejects.toThrow('broken');
  expect(written.endsWith(CLEARED)).toBe(true);

  const interrupt = new AbortController();
  const tally = new TallyLine({ telling: 'line', signal: interrupt.signal }, { what: 'x' });
  drawn(tally);
  interrupt.abort();
  expect(written.endsWith(CLEARED)).toBe(true);
  written = '';
  expect(drawn(tally)).toEqual(['']);
});
