import type { LiveWorker } from '../ports/roster.ts';

/** Says that RabbitMQ takes no messages, with the reason it gave, such as `low on memory`. */
export function alarmText(reason: string): string {
  return `takes no messages: ${reason}. Free memory or disk on its machine; rabbitmqctl status says what it has and needs`;
}

/** Says that a queue is full. Trawl sets no limit on its queues, so a policy must have done that. */
export const FULL_TEXT =
  "refuses messages, to be tried again: a policy bounds a queue (max-length, reject-publish). Take Trawl's queues out of it: rabbitmqctl list_policies";

const BLOCKED = 'blocked: ';

/** Returns why RabbitMQ takes no messages, as workers report it. A worker that has published nothing since doesn't know. */
export function reportedAlarm(workers: readonly Pick<LiveWorker, 'brokerTrouble'>[]): string | undefined {
  const told = workers.find(({ brokerTrouble }) => brokerTrouble?.startsWith(BLOCKED));
  return told?.brokerTrouble?.slice(BLOCKED.length);
}

/** Does a queue refuse messages that workers publish? */
export function isQueueFull(workers: readonly Pick<LiveWorker, 'brokerTrouble'>[]): boolean {
  return workers.some(({ brokerTrouble }) => brokerTrouble === 'full');
}
