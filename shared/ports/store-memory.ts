/** An optional ability of a store that keeps everything in memory: says how full it is. */
export interface StoreMemory {
  memory(): Promise<MemoryUse>;
}

export interface MemoryUse {
  readonly usedBytes: number;
  /** 0: no limit. */
  readonly limitBytes: number;
}
