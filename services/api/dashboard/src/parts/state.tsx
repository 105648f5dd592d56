/** Which of the few colours a state has; its word is always there, too. */
const TONES: Readonly<Record<string, string>> = {
  running: 'good',
  consuming: 'good',
  ok: 'good',
  done: 'good',
  paused: 'warn',
  warning: 'warn',
  stopping: 'warn',
  cancelled: 'dim',
  finished: 'dim',
  problem: 'bad',
  failed: 'bad',
  unknown: 'bad',
  unreachable: 'bad',
};

/** A state in a word, with a mark in its colour. */
export function State({ of }: { readonly of: string }) {
  const tone = TONES[of] ?? (of.startsWith('waiting') ? 'warn' : 'dim');
  return <span class={`state ${tone}`}>{of}</span>;
}
