import { FULL_AT, FULL_FOR_OTHERS_AT, type MemoryUse } from '../ports/frontier/store-memory.ts';

/** Says how full Redis is, who waits because of that, and what to do; undefined while nobody waits. */
export function fullnessText({ usedBytes, limitBytes }: MemoryUse): string | undefined {
  if (limitBytes === 0 || usedBytes < limitBytes * FULL_FOR_OTHERS_AT) return undefined;
  const whose = usedBytes < limitBytes * FULL_AT ? 'producers wait' : 'producers wait, and so do pages that have links';
  return `uses ${Math.floor((100 * usedBytes) / limitBytes)} % of its maxmemory: ${whose}. Let it drain, or give it more: redis-cli config set maxmemory SIZE`;
}
