import { setFlagsFromString } from 'node:v8';

/**
 * Makes V8 optimise functions after 500 calls from now on, for a process that fetches pages.
 *
 * Most functions that a page needs are called once per page. By default, V8 has optimised the last of them only after fifteen
 * thousand pages, and until then each page costs up to twice as much. With this, it takes five thousand pages.
 */
export function optimiseEarly(): void {
  // Measured on the V8 of this Node.js. Another one might not know these flags, and would complain at every start.
  if (!process.versions.node.startsWith('24.')) return;
  setFlagsFromString('--invocation-count-for-maglev=100');
  setFlagsFromString('--invocation-count-for-turbofan=500');
}
