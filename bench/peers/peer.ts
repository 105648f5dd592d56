/** The figures of one crawl. */
export interface PeerFigures {
  /** Measured by the peer's own clock, from the start of its crawl; starting the process doesn't count. */
  readonly pagesPerSecond: number;
  /** User and system time of the whole process, start-up included. */
  readonly cpuUsPerPage: number;
  readonly rssMb: number;
}

/** A peer that isn't available here, with the reason and the remedy. Its rows are left out. */
export class Missing {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}
