import type { LiveWorker } from '../ports/roster.ts';

/** That RabbitMQ takes no messages, for the reason that it gave: `low on memory`. */
export function alarmText(reason: string): string {
  return `takes no messages: ${reason}. Free memory or disk on its machine; rabbitmqctl status says what it has and needs`;
}

/** That one of its queues is full, though Trawl's have no bound. */
export const FULL_TEXT =
  "refuses messages, to be tried again: a policy bounds a queue (max-length, reject-publish). Take Trawl's queues out of it: rabbitmqctl list_policies";

const BLOCKED = 'blocked: ';

/** Why RabbitMQ takes no messages, by what workers say. Whoever has published nothing since hears nothing. */
export function reportedAlarm(workers: readonly Pick<LiveWorker, 'brokerTrouble'>[]): string | undefined {
  const told = workers.find(({ brokerTrouble }) => brokerTrouble?.startsWith(BLOCKED));
  return told?.brokerTrouble?.slice(BLOCKED.length);
}

/** Does a queue refuse what workers publish? */
export function isQueueFull(workers: readonly Pick<LiveWorker, 'brokerTrouble'>[]): boolean {
  return workers.some(({ brokerTrouble }) => brokerTrouble === 'full');
}
