import type { LiveWorker } from '../ports/roster.ts';

/** Says that RabbitMQ takes no messages, with the reason it gave, such as `low on memory`. */
export function alarmText(reason: string): string {
  return `takes no messages: ${reason}. Free memory or disk on its machine; rabbitmqctl status says what it has and needs`;
}

/** Says that a queue is full. Trawl sets no limit on its queues, so a policy must have done that. */
export const FULL_TEXT =
  "refuses messages, to be tried again: a policy bounds a queue (max-length, reject-publish). Take Trawl's queues out of it: rabbitmqctl list_policies";

/** Says that the broker refuses the largest messages. */
export const TOO_LARGE_TEXT =
  'refuses messages larger than its max_message_size: their URLs wait until it is raised (rabbitmq.conf). The workers log the sizes';

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

/** Does RabbitMQ refuse messages that workers publish because of their size? */
export function areSomeTooLarge(workers: readonly Pick<LiveWorker, 'brokerTrouble'>[]): boolean {
  return workers.some(({ brokerTrouble }) => brokerTrouble === 'too_large');
}
