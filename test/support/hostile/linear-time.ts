/** Four times the text takes four times as long, or sixteen times if time grows with the square. */
const FACTOR = 4;
const MAX_GROWTH = 9;
/** A leap to this duration needs no second one as proof. */
const BEYOND_DOUBT_MS = 2_000;
/** Shorter times don't matter, and are measured too inaccurately. */
const NOTHING_MS = 20;
const MAX_TRIES = 8;
/** An expression with cubic time takes a second at four times this length. */
const SHORTEST = 256;

/**
 * Checks that the time of `run` grows no faster than the length of a text. Compares each length with a quarter of it, so that
 * the machine's speed doesn't matter, and stops at the first leap, so that quadratic time costs seconds, not hours.
 *
 * @returns the length at which the time leaps, or `undefined` if it grows linearly up to `longest`
 */
export function leapOf(
  run: (text: string) => void,
  textOf: (length: number) => string,
  longest: number,
): number | undefined {
  let before = msOf(run, textOf(SHORTEST));
  for (let length = SHORTEST * FACTOR; length <= longest; length *= FACTOR) {
    const text = textOf(length);
    let now = msOf(run, text);
    // Noise only ever adds time, so the shortest of several tries is the most accurate.
    for (let tries = 1; isLeap(before, now); tries++) {
      if (tries === MAX_TRIES && now < BEYOND_DOUBT_MS && !leapsAgain(run, textOf(length * FACTOR), now)) break;
      if (tries === MAX_TRIES) return length;
      before = Math.min(before, msOf(run, textOf(length / FACTOR)));
      now = Math.min(now, msOf(run, text));
    }
    before = now;
  }
  return undefined;
}

/**
 * What no longer fits into the memory for young objects takes ten to forty times as long, once: the kernel has to provide each page of a
 * text, or the engine moves what it has read so far at each collection. Quadratic time leaps at the next length, too.
 */
function leapsAgain(run: (text: string) => void, text: string, before: number): boolean {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const now = msOf(run, text);
    if (!isLeap(before, now)) return false;
    if (now > BEYOND_DOUBT_MS) return true;
  }
  return true;
}

function isLeap(before: number, now: number): boolean {
  return now > Math.max(NOTHING_MS, MAX_GROWTH * before);
}

/** CPU time of this process, so that others on the machine don't count. The time of a thread alone would be counted in ticks only. */
function msOf(run: (text: string) => void, text: string): number {
  const before = process.cpuUsage();
  run(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
