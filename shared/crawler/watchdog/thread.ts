import { spawnSync } from 'node:child_process';
import { writeSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { isatty } from 'node:tty';
import { parentPort, workerData } from 'node:worker_threads';
import { printable } from '../../runtime/printable.ts';
import { withoutCredentials } from '../../task/url/url.ts';
import { placesIn } from '../failures/place.ts';
import { TICK_MS, WatchedMemory } from './memory.ts';
import type { LastThings, WatchdogData } from './watchdog.ts';

/** The thread of a {@link Watchdog}: counts the ticks during which the event loop hasn't moved. */

const { shared, stuckAfterMs, exitCode, ...begun } = workerData as WatchdogData;
const memory = new WatchedMemory(shared);
let last: LastThings = begun;
let [beat, quiet] = [memory.beats, 0];

/** If the event loop can't be inspected within this time, the process ends without naming the place. */
const LOOK_MS = 5_000;
/** Longest time for the last command. */
const COMMAND_MS = 120_000;
/** Maximum debugger steps from where the loop was paused to a line of this program or of a crawler. */
const MOST_LOOKS = 20;
const STDERR = 2;
/** Undoes what a progress line changes in the terminal: column, wrapping, cursor. */
const RESET_LINE = '\r\u001b[K\u001b[?7h\u001b[?25h';
const STACK = 'Error.stackTraceLimit = 50, String(new Error().stack)';
/**
 * Ends the process from its main thread, since only that can set an exit code. Closes stderr first, because Node.js would print that it is
 * waiting for the debugger, which is this thread.
 */
const EXIT = `process.getBuiltinModule('node:fs').closeSync(2), process.reallyExit(${exitCode})`;

parentPort?.on('message', (things: LastThings) => {
  last = things;
});

const ticks = setInterval(() => {
  memory.tick();
  const { beats } = memory;
  quiet = beats === beat && !memory.isDebugged ? quiet + 1 : 0;
  beat = beats;
  if (quiet * TICK_MS < stuckAfterMs) return;
  clearInterval(ticks);
  end();
}, TICK_MS);

function end(): void {
  const blind = setTimeout(() => {
    say(undefined);
    process.kill(process.pid, 'SIGKILL');
  }, LOOK_MS);
  const session = new Session();
  let looks = 0;
  session.connectToMainThread();
  session.on('Debugger.paused', ({ params: { callFrames } }) => {
    const [frame] = callFrames;
    if (frame === undefined) return;
    evaluate(session, frame, STACK, (stack) => {
      const { crawler, any } = placesIn(stack);
      // The loop was paused between two microtasks, with neither on the stack.
      if (any === undefined && ++looks < MOST_LOOKS) {
        session.post('Debugger.stepInto');
        return;
      }
      clearTimeout(blind);
      say(crawler ?? any);
      evaluate(session, frame, EXIT, () => {});
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), LOOK_MS);
    });
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
}

function evaluate(
  session: Session,
  { callFrameId }: Debugger.CallFrame,
  expression: string,
  then: (value: string) => void,
): void {
  session.post('Debugger.evaluateOnCallFrame', { callFrameId, expression }, (error, answer) => {
    if (error === null) then(String(answer.result.value));
  });
}

function say(place: string | undefined): void {
  const [url = '', step] = memory.page.split(' ');
  const where = place === undefined ? '' : ` at ${place}`;
  const page =
    url === '' ? '' : `, with ${withoutCredentials(url)} in hand${step === undefined ? '' : `, step ${step}`}`;
  const lines = [
    `trawl: stuck for ${Math.round(stuckAfterMs / 1_000)} s${where}${page}: this process ends`,
    ...last.words,
  ];
  const text = `${isatty(STDERR) ? RESET_LINE : ''}${lines.map((line) => `${printable(line)}\n`).join('')}`;
  try {
    writeSync(STDERR, text);
  } catch {
    // The process ends even if stderr can't be written to.
  }
  // Blocking is fine: the main thread is paused.
  if (last.command.length > 0)
    spawnSync(process.execPath, last.command, { stdio: ['ignore', 'ignore', 'inherit'], timeout: COMMAND_MS });
}
