/** Something that ends when a signal is aborted. */
interface Abortable {
  abort(signal: AbortSignal): void;
}

/**
 * Which requests end with which signal. A worker gives the same signal with all of its requests: so a signal has one listener,
 * since adding and removing one walks past all others.
 */
export class Abortions {
  readonly #groups = new Map<AbortSignal, { readonly members: Set<Abortable>; readonly listener: () => void }>();

  add(signal: AbortSignal, member: Abortable): void {
    const group = this.#groups.get(signal);
    if (group !== undefined) {
      group.members.add(member);
      return;
    }
    const members = new Set([member]);
    const listener = (): void => {
      for (const each of [...members]) each.abort(signal);
    };
    this.#groups.set(signal, { members, listener });
    signal.addEventListener('abort', listener, { once: true });
  }

  delete(signal: AbortSignal, member: Abortable): void {
    const group = this.#groups.get(signal);
    if (group === undefined) return;
    group.members.delete(member);
    if (group.members.size > 0) return;
    // A listener that stays would keep a signal that is made of others alive.
    signal.removeEventListener('abort', group.listener);
    this.#groups.delete(signal);
  }
}
