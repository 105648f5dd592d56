/**
 * A long-lived part of the program.
 *
 * `start` resolves when the part is ready for use. `stop` accepts no new work, waits for work under way, and then resolves. It
 * can be called twice, or without a `start`.
 */
export interface Service {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts services in order. If one fails, stops it and the ones before it, in reverse order, and throws its error. */
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

/** Stops services one after another, in the order given. Stops all of them even if one throws; then throws the first error. */
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
 * Stops all services at the same time, so that none keeps working while another takes long to stop. Resolves when all have
 * stopped, or throws the first error.
 */
export async function stopTogether(services: readonly Pick<Service, 'stop'>[]): Promise<void> {
  const stopped = await Promise.allSettled(services.map((service) => service.stop()));
  for (const each of stopped) if (each.status === 'rejected') throw each.reason;
}
