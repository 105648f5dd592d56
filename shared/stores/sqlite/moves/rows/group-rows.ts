export type GroupRow = {
  readonly id: number;
  readonly run: number;
  readonly grp: string;
  /** The owner's mark, a tab, and its form. */
  owner: string;
  /** The mark that the owner's redirects have claimed. */
  claimed: string | null;
  open: number;
  /** The owner's outcome. */
  ended: string | null;
  /** The layer of joins that was made last, from 1, and how many of them have not ended. */
  layer: number;
  left: number;
  bytes: number;
  large: number;
  over: number | null;
};
