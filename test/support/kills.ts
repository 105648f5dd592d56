import { MINUTE_MS } from '../../shared/task/durations.ts';

/**
 * For a test that kills a process anywhere in its work, in ms. One that dies after it has leased tasks for release and before
 * the broker has them leaves them to a lease of a minute (PUBLISHING_MS), and the janitor looks every few seconds.
 */
export const AFTER_A_KILL_MS = 3 * MINUTE_MS;
