import type { Bottleneck } from '../../../shared/control/bottleneck.ts';
import { count, counted, duration, perSecond } from '../../../shared/control/format.ts';
import type { RunView } from '../../../shared/control/run-watcher.ts';
import { elapsedMs, type RunProgress } from '../../../shared/ports/runs.ts';
import type { Colour } from '../../../shared/runtime/colour.ts';
import { printable } from '../../../shared/runtime/printable.ts';
import { widthOf } from './width.ts';

/** A part of the progress line. Printable, and shown as a whole or not at all. */
export interface Part {
  readonly text: string;
  readonly colour?: Colour;
}

/** The gap between two parts. */
export const GAP = '  ';
/** Minimum columns for a progress bar, which takes a fifth of them. */
const BAR_FROM = 100;
const BAR_SHARE = 0.2;

/**
 * Describes a run's progress within this many columns: pages ended and known, pages a second, ETA, failures, and what the run waits for.
 * Parts without room are left out from the end. Only the last part can be cut, between words.
 *
 * @param reading a note on the producer's progress, until all seeds are offered
 */
export function progressParts({ progress, bottleneck, rate }: RunView, columns: number, reading?: string): Part[] {
  const ended = endedOf(progress);
  const eta = reading === undefined ? bottleneck.etaMs : undefined;
  const whole: Part[] = [
    { text: `${count(ended)}/${counted(progress.discovered, 'page')}` },
    { text: `${perSecond(rate)}/s` },
    ...(eta === undefined ? [] : [{ text: `eta ${duration(eta)}` }]),
    ...(progress.failed === 0 ? [] : [{ text: `${count(progress.failed)} failed`, colour: 'red' as const }]),
  ];
  const bar: Part[] = columns < BAR_FROM ? [] : [barOf(ended, progress.discovered, Math.floor(columns * BAR_SHARE))];
  const parts: Part[] = [];
  let left = columns + GAP.length;
  for (const part of [...bar, ...whole]) {
    left -= widthOf(part.text) + GAP.length;
    if (left < 0) return parts;
    parts.push(part);
  }
  const note = cutBetweenWords(noteOf(bottleneck, reading), left - GAP.length);
  return note === '' ? parts : [...parts, { text: note }];
}

/** Describes a run's progress in a sentence. */
export function progressSentence({ progress, bottleneck, rate }: RunView, reading?: string): string {
  const { run, failed, discovered } = progress;
  const eta = bottleneck.etaMs === undefined || reading !== undefined ? '' : `, eta ${duration(bottleneck.etaMs)}`;
  const failures = failed === 0 ? '' : `, ${count(failed)} failed`;
  const note = reading ?? bottleneck.sentence;
  const numbers = `${count(endedOf(progress))} of ${counted(discovered, 'page')}${failures}, ${perSecond(rate)}/s${eta}`;
  return `Run ${run} after ${duration(elapsedMs(progress))}: ${numbers}${note === '' ? '' : `; ${note}`}`;
}

/** The note after the numbers, on the producer or on what the run waits for. Printable. */
function noteOf({ sentence }: Bottleneck, reading: string | undefined): string {
  return printable(reading ?? sentence);
}

function endedOf({ done, skipped, failed, cancelled }: RunProgress): number {
  return done + skipped + failed + cancelled;
}

function barOf(ended: number, known: number, columns: number): Part {
  const full = Math.round((Math.min(ended, known) / Math.max(1, known)) * columns);
  return { text: '█'.repeat(full) + '░'.repeat(columns - full), colour: 'cyan' };
}

/** Returns as many words as fit, with `…` if there are more; empty if not even the first fits. */
function cutBetweenWords(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let shown = '';
  // A number stays with its unit.
  for (const word of text.split(/(?<!\d) /)) {
    const longer = shown === '' ? word : `${shown} ${word}`;
    if (widthOf(longer) >= columns) break;
    shown = longer;
  }
  return shown === '' ? '' : `${shown.replace(/[;:,]$/, '')}…`;
}
