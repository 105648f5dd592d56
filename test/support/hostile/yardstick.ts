const YARD = JSON.stringify(Array.from({ length: 100_000 }, (_, n) => `item ${n}`));

/** CPU time in milliseconds of a fixed amount of work on this machine: about 4 on a fast one. Takes the quickest of six tries. */
export function yardstickMs(cpuMs: () => number): number {
  return Math.min(...Array.from({ length: 6 }, () => timeOf(cpuMs)));
}

function timeOf(cpuMs: () => number): number {
  const began = cpuMs();
  JSON.parse(YARD);
  return cpuMs() - began;
}
