/**
 * A long-lived part of the program.
 *
 * `start` resolves when the part is ready to be used. `stop` may be called twice, or without a `start`; it takes nothing
 * new, waits for what is under way, and then resolves.
 */
export interface Service {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts services in order; if one fails, stops those already started, in reverse, and throws what it threw. */
export async function startAll(services: readonly Service[]): Promise<void> {
  const started: Service[] = [];
  try {
    for (const service of services) {
      started.unshift(service);
      await service.start();
    }
  } catch (error: unknown) {
    await stopAll(started).catch(() => {});
    throw error;
  }
}

/** Stops services one after another in the order given, all of them even if one throws; then throws the first error. */
export async function stopAll(services: readonly Pick<Service, 'stop'>[]): Promise<void> {
  const errors: unknown[] = [];
  for (const service of services) {
    try {
      await service.stop();
    } catch (error: unknown) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/**
 * Tells all services to stop at once, so that none works on while another takes long. Resolves when all have stopped, or
 * throws the first error.
 */
export async function stopTogether(services: readonly Pick<Service, 'stop'>[]): Promise<void> {
  const stopped = await Promise.allSettled(services.map((service) => service.stop()));
  for (const each of stopped) if (each.status === 'rejected') throw each.reason;
}
