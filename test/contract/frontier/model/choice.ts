import type { ReleaseName } from '../../../../shared/ports/frontier/frontier.ts';
import type { Model, ModelRun } from './model.ts';
import type { World } from './world.ts';

/** An exact release, or a number that chooses one, usually in flight. */
export type Which = number | ReleaseName;

/** Chooses a release in flight, one from a possibly old message, or one with a wrong mark or a number never given. */
export function chooseRelease(model: Model, world: World, run: ModelRun, which: Which): ReleaseName {
  if (typeof which !== 'number') return which;
  const flights = model.inFlight(run);
  const messages = world.messages.filter((message) => message.run === run.id);
  const flight = pick(flights, which);
  const message = pick(messages, which);
  const { mark } = pick(run.tasks, which >> 3) ?? { mark: 'http://nowhere.test/' };
  if (flight !== undefined && which % 5 > 0) return { release: flight.release, mark: flight.mark };
  if (message !== undefined && which % 2 > 0) return { release: message.release, mark: message.mark };
  return { release: flight?.release ?? message?.release ?? which + 1, mark };
}

function pick<T>(list: readonly T[], number: number): T | undefined {
  return list[number % Math.max(1, list.length)];
}
