/** Callbacks that write to sockets run before callbacks that send what was written. */
type Phase = 'write' | 'send';
type Callback = () => void;

const waiting: Record<Phase, Callback[]> = { write: [], send: [] };
let isScheduled = false;

/** Calls back once, at the end of this turn of the event loop. */
export function atEndOfTurn(phase: Phase, callback: Callback): void {
  waiting[phase].push(callback);
  schedule();
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(endTurn);
}

function endTurn(): void {
  try {
    for (const callback of taken('write')) callback();
  } finally {
    isScheduled = false;
  }
  // Data written in the first phase is sent now, not a turn later.
  for (const callback of taken('send')) callback();
  if (waiting.write.length > 0) schedule();
}

function taken(phase: Phase): readonly Callback[] {
  const callbacks = waiting[phase];
  waiting[phase] = [];
  return callbacks;
}
