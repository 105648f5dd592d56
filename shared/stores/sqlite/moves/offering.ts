import { type LinkTally, type Offer, type OfferOptions, type OfferResult, takenWith } from '../../../ports/frontier.ts';
import { MARK } from '../database/schema.ts';
import { type Discovery, sessionOf } from './mark-table.ts';
import { type Moves, optionsOf } from './moves.ts';
import type { RunRow } from './run-rows.ts';
import { heldOf, newTask, type TaskRow } from './task-rows.ts';

/** What became of one offer. */
type Answer = 'taken' | 'known' | 'readAgain' | 'scope' | 'maxPages' | 'limit';

/** One call of `offer`. */
export class Offering {
  readonly #moves: Moves;
  readonly #options: OfferOptions;
  /** The hosts that count already, by their domain. */
  readonly #hosts = new Map<string, Set<string>>();
  #discovery: Discovery = { source: 0, session: 1 };

  constructor(moves: Moves, options: OfferOptions) {
    this.#moves = moves;
    this.#options = options;
  }

  offer(id: string, offers: readonly Offer[]): OfferResult {
    const run = this.#moves.run(id);
    const { incarnation, parent, most, limit, repeat } = this.#options;
    if (run?.state !== 'running' && run?.state !== 'paused') return { refused: 'run' };
    if (incarnation !== undefined && incarnation !== run.incarnation) return { refused: 'run' };
    const page = parent === undefined ? undefined : this.#moves.flight(run, parent);
    if (parent !== undefined && (page === undefined || !this.#count(run, page, parent.tally, offers.length)))
      return { refused: 'parent' };
    this.#discovery = { source: page?.id ?? 0, session: sessionOf(run, this.#moves.ownerOf(run)) };
    const roomUntil = (bound: number | undefined) => (bound === undefined ? offers.length : bound - run.discovered);
    const [room, roomOfLinks] = [roomUntil(limit), roomUntil(most)];
    const counts: Record<Answer, number> = { taken: 0, known: 0, readAgain: 0, scope: 0, maxPages: 0, limit: 0 };
    for (const offer of offers) {
      const isFull = counts.taken >= room ? 'limit' : counts.taken >= roomOfLinks ? 'maxPages' : undefined;
      counts[this.#offerOne(run, offer, isFull)]++;
    }
    const { taken: accepted, scope, maxPages } = counts;
    const known = counts.known + counts.readAgain;
    run.discovered += accepted;
    run.waiting += accepted;
    if (repeat !== true) {
      this.#countDuplicates(run, page, counts.known);
      run.leftOutScope += scope;
      run.leftOutMaxPages += maxPages;
      run.leftOutLimit += counts.limit;
    }
    return takenWith(accepted, known, { scope, maxPages, limit: counts.limit });
  }

  /** Counts links for the page that they are of. If links from before are not here, puts it back, and returns false. */
  #count(run: RunRow, page: TaskRow, { stamp, links }: LinkTally, count: number): boolean {
    const held = heldOf(page, stamp);
    if (held < links) {
      this.#moves.land(run);
      // Its worker has survived it.
      this.#moves.putBack(run, { ...page, starts: 0 });
      return false;
    }
    const total = Math.max(held, links + count);
    this.#moves.database.run('UPDATE tasks SET stamp = ?, links = ? WHERE id = ?', stamp, total, page.id);
    return true;
  }

  #offerOne(run: RunRow, offer: Offer, isFull: 'limit' | 'maxPages' | undefined): Answer {
    const task = newTask(offer, this.#moves.now);
    const { mark, host } = task;
    // A run without failures has no failed marks.
    if (run.failed > 0 && this.#moves.marks.has(run.n, mark, MARK.failed)) return this.#known(run, run.n, mark);
    const domain = 'malformed' in offer || this.#options.mostHosts === undefined ? undefined : offer.domain;
    const hosts = domain === undefined ? undefined : this.#hostsOf(run, domain);
    const isOneTooMany = hosts !== undefined && !hosts.has(host) && hosts.size >= (this.#options.mostHosts ?? 0);
    const refusal = isFull ?? (isOneTooMany ? 'scope' : undefined);
    if (!this.#take(run, offer, mark, refusal === undefined)) return this.#known(run, this.#moves.ownerOf(run), mark);
    if (refusal !== undefined) return refusal;
    if (domain !== undefined && hosts?.has(host) === false) {
      hosts.add(host);
      this.#moves.database.run('INSERT INTO domainHosts VALUES (?, ?, ?)', run.n, domain, host);
    }
    this.#moves.add(run, task);
    return 'taken';
  }

  /** Is the offer's mark free? If so, takes it when it `mayTake`. */
  #take(run: RunRow, offer: Offer, mark: string, mayTake: boolean): boolean {
    const { recrawl, marks, now } = this.#moves;
    const options = optionsOf(run);
    const found = { ...this.#discovery, task: this.#moves.nextTask };
    if (options.incremental && !('malformed' in offer)) {
      const own = { n: run.n, options };
      const openRuns = () => this.#moves.openRuns().map((open) => ({ n: open.n, options: optionsOf(open) }));
      if (!recrawl.isDueNow(own, offer, openRuns, now)) return false;
      if (mayTake) recrawl.take(own, mark, found);
      return true;
    }
    const owner = this.#moves.ownerOf(run);
    return mayTake ? marks.add(owner, mark, MARK.taken, found) : !marks.has(owner, mark, MARK.taken);
  }

  #known(run: RunRow, owner: number, mark: string): Answer {
    // The source that it was found in before a crash is read again.
    return run.session > 1 && this.#moves.marks.isReadAgain(owner, mark, this.#discovery) ? 'readAgain' : 'known';
  }

  /** Counts duplicates; also apart from others while their source may have to be read again. */
  #countDuplicates(run: RunRow, page: TaskRow | undefined, known: number): void {
    run.duplicate += known;
    if (known === 0 || run.generation === null) return;
    if (page === undefined) run.knownOfSeeds += known;
    else this.#moves.database.run('UPDATE tasks SET known = known + ? WHERE id = ?', known, page.id);
  }

  #hostsOf(run: RunRow, domain: string): Set<string> {
    let hosts = this.#hosts.get(domain);
    if (hosts === undefined) {
      const known = this.#moves.database.all<{ host: string }>(
        'SELECT host FROM domainHosts WHERE run = ? AND domain = ?',
        run.n,
        domain,
      );
      hosts = new Set(known.map(({ host }) => host));
      this.#hosts.set(domain, hosts);
    }
    return hosts;
  }
}
