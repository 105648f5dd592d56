import type { HostRow } from './rows/host-rows.ts';

/** Requests that have a place at a host, and until when. */
type Held = Record<string, number>;

/**
 * Gives a request one of a host's places until `till`, unless others have them all. A place that it had before is replaced.
 *
 * @returns whether it has one
 */
export function takePlace(
  host: Pick<HostRow, 'places'>,
  { holder, most, till, now }: { holder: string; most: number; till: number; now: number },
): boolean {
  const held = heldNow(host, now);
  if (!Object.hasOwn(held, holder) && Object.keys(held).length >= most) {
    host.places = textOf(held);
    return false;
  }
  host.places = textOf({ ...held, [holder]: till });
  return true;
}

export function leavePlace(host: Pick<HostRow, 'places'>, holder: string): void {
  if (host.places === '') return;
  const { [holder]: _, ...held } = JSON.parse(host.places) as Held;
  host.places = textOf(held);
}

/** Frees the places whose holders are gone. */
export function freePlaces(host: Pick<HostRow, 'places'>, isGone: (holder: string) => boolean): void {
  if (host.places === '') return;
  const held = Object.entries(JSON.parse(host.places) as Held);
  host.places = textOf(Object.fromEntries(held.filter(([holder]) => !isGone(holder))));
}

/** Returns the places whose time isn't over. */
function heldNow({ places }: Pick<HostRow, 'places'>, now: number): Held {
  if (places === '') return {};
  return Object.fromEntries(Object.entries(JSON.parse(places) as Held).filter(([, till]) => till > now));
}

function textOf(held: Held): string {
  return Object.keys(held).length === 0 ? '' : JSON.stringify(held);
}
