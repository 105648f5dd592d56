import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

const collect = runInNewContext('gc') as () => void;

/**
 * Collects all garbage, so that memory measured next is really in use. V8 frees the memory of buffers in another thread, late on a busy
 * machine; the next collection waits for that.
 */
export function collectGarbage(): void {
  collect();
  collect();
}
