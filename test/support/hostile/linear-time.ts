/** Four times the text takes four times as long, or, if time grows with the square, sixteen times. */
const FACTOR = 4;
const MAX_GROWTH = 9;
/** A leap to this much needs no second one. */
const LONG_MS = 500;
/** No memory takes this long to find. */
const BEYOND_DOUBT_MS = 4 * LONG_MS;
/** Less is not worth looking at, and is measured too badly. */
const NOTHING_MS = 20;
const MAX_TRIES = 8;
/** What grows with the cube takes a second at four times this. */
const SHORTEST = 256;

/**
 * Does the time of `run` grow with the length of a text, and no faster? Compares each length with a quarter of it, so that
 * the machine's speed doesn't matter, and stops at the first leap: what is quadratic takes seconds, not hours.
 *
 * @returns the length at which it leaps; nothing if it grows linearly up to the longest
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
    // Noise only ever adds time, so that the shortest of several tries is nearest to the truth.
    for (let tries = 1; isLeap(before, now); tries++) {
      if (tries === MAX_TRIES && now < LONG_MS && !leapsAgain(run, textOf(length * FACTOR), now)) break;
      if (tries === MAX_TRIES) return length;
      before = Math.min(before, msOf(run, textOf(length / FACTOR)));
      now = Math.min(now, msOf(run, text));
    }
    before = now;
  }
  return undefined;
}

/**
 * Text that no longer fits into the memory for young objects takes ten times as long on some virtual machines, once: the kernel has to
 * find each page of it. What grows with the square leaps with the next length as well.
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

/** Of this process's own time: what others do on the machine is left out. A thread's own is counted in ticks only. */
function msOf(run: (text: string) => void, text: string): number {
  const before = process.cpuUsage();
  run(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
