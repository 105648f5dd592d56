/**
 * Shares of a store's memory from which on it takes no offers: those by owners and members of groups, and all that workers offer in runs
 * without joins, to the first; those by others to the second, to leave room for the work that makes some.
 */
export const FULL_AT = 0.95;
export const FULL_FOR_OTHERS_AT = 0.8;

/** An optional ability of a store that keeps everything in memory: says how full it is. */
export interface StoreMemory {
  memory(): Promise<MemoryUse>;
}

export interface MemoryUse {
  readonly usedBytes: number;
  /** 0: no limit. */
  readonly limitBytes: number;
}
