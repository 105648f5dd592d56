/** Something that ends when a signal is aborted. */
interface Abortable {
  abort(signal: AbortSignal): void;
}

/**
 * The requests that end with each signal. A worker passes the same signal with all its requests, and adding or removing a listener walks
 * past all others, so each signal gets only one listener.
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
    // A remaining listener would keep a signal composed of others alive.
    signal.removeEventListener('abort', group.listener);
    this.#groups.delete(signal);
  }
}
