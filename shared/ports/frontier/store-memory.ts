/** Share of a store's memory at which it refuses links from owners and members of groups, and all links in runs without joins. */
export const FULL_AT = 0.95;
/** Share at which it refuses all other offers, such as producers'. The rest is reserved for the work that frees memory. */
export const FULL_FOR_OTHERS_AT = 0.8;

/** An optional ability of a store that keeps everything in memory: reports how full it is. */
export interface StoreMemory {
  memory(): Promise<MemoryUse>;
}

export interface MemoryUse {
  readonly usedBytes: number;
  /** 0 for no limit. */
  readonly limitBytes: number;
}
