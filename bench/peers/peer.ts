/** Of one crawl. */
export interface PeerFigures {
  /** By the peer's own clock, from where it begins to crawl: its start-up isn't in it. */
  readonly pagesPerSecond: number;
  /** User and system time of the whole process, start-up included. */
  readonly cpuUsPerPage: number;
  readonly rssMb: number;
}

/** A peer that can't be had here, with what would help. Its rows are left out. */
export class Missing {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}
