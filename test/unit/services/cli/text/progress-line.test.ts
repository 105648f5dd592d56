import { expect, test } from 'vitest';
import { noteOf } from '../../../../../services/cli/text/progress-line.ts';

test.each([
  [noteOf({ name: 'none', sentence: '', etaMs: 60_000 }), 'eta 60 s'],
  [noteOf({ name: 'host', sentence: 'waiting for a.test', etaMs: 60_000 }), 'waiting for a.test'],
  [noteOf({ name: 'slots', sentence: 'all busy', etaMs: 1_000 }), 'all busy; eta 1.0 s'],
  [noteOf({ name: 'slots', sentence: 'all busy', etaMs: 1_000 }, 'reading x'), 'reading x'],
  [noteOf({ name: 'none', sentence: '', etaMs: undefined }), ''],
])('%s is the note of the progress line', (note, expected) => {
  expect(note).toBe(expected);
});

test('what others wrote stays in its line', () => {
  const hostile = 'paused (\u001b[2J\n\u009b1A\u202e)';
  const shown = 'paused (\\u001b[2J\\u000a\\u009b1A\\u202e)';
  expect(noteOf({ name: 'paused', sentence: hostile, etaMs: undefined })).toBe(shown);
  expect(noteOf({ name: 'none', sentence: '', etaMs: 1 }, hostile)).toBe(shown);
});
