/** Colours of states. The word is always shown as well. */
const TONES: Readonly<Record<string, string>> = {
  running: 'good',
  consuming: 'good',
  ok: 'good',
  done: 'good',
  paused: 'warn',
  warning: 'warn',
  stopping: 'warn',
  stopped: 'warn',
  cancelled: 'dim',
  finished: 'dim',
  problem: 'bad',
  failed: 'bad',
  unknown: 'bad',
  unreachable: 'bad',
};

/** A state as a word with a coloured mark. */
export function State({ of }: { readonly of: string }) {
  const tone = TONES[of] ?? (of.startsWith('waiting') ? 'warn' : 'dim');
  return <span class={`state ${tone}`}>{of}</span>;
}
