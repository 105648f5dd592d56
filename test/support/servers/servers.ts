/** A RabbitMQ and a Redis for the suites to use as they like. */
export interface Servers {
  readonly rung: 'given' | 'containers' | 'programs';
  readonly rabbitmqUrl: string;
  readonly redisUrl: string;
  stop(): Promise<void>;
}
