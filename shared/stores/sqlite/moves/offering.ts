import {
  type LinkTally,
  type Offer,
  type OfferOptions,
  type OfferResult,
  takenWith,
} from '../../../ports/frontier/frontier.ts';
import { groupOfMark } from '../../../task/group/group.ts';
import { MARK } from '../database/schema.ts';
import type { Moves } from './moves.ts';
import type { GroupRow } from './rows/group-rows.ts';
import { type Discovery, sessionOf } from './rows/mark-table.ts';
import type { RunRow } from './rows/run-rows.ts';
import { heldOf, newTask, type TaskRow } from './rows/task-rows.ts';
import { optionsOf } from './run-options.ts';
import { countStep } from './step-counts.ts';

/** The answer to one offered task. */
type Answer = 'taken' | 'known' | 'readAgain' | 'scope' | 'maxPages' | 'limit';

/** One call of `offer`. */
export class Offering {
  readonly #moves: Moves;
  readonly #options: OfferOptions;
  /** The hosts that are already counted, by domain. */
  readonly #hosts = new Map<string, Set<string>>();
  #discovery: Discovery = { source: 0, session: 1 };
  #parent: TaskRow | undefined;
  #most = 0;
  /** The group of the tasks that are members of one, and how many members were taken. */
  #group: GroupRow | undefined;
  #members = 0;
  /** The next place for members at the head of each list, so that groups end before new ones begin. */
  readonly #heads = new Map<string, number>();

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
    this.#parent = page;
    this.#most = offers.length;
    this.#discovery = { source: page?.id ?? 0, session: sessionOf(run, this.#moves.ownerOf(run)) };
    // A local run crawls replayed groups itself. Their pages were counted before, so limits count them apart from all other pages.
    const isAnew = offers.some((offer) => 'replayed' in offer && offer.replayed !== undefined);
    const counted = isAnew ? run.anew : run.discovered - run.joins - run.anew;
    const roomUntil = (bound: number | undefined) => (bound === undefined ? offers.length : bound - counted);
    const [room, roomOfLinks] = [roomUntil(limit), roomUntil(most)];
    const counts: Record<Answer, number> = { taken: 0, known: 0, readAgain: 0, scope: 0, maxPages: 0, limit: 0 };
    for (const offer of offers) {
      const isFull = counts.taken >= room ? 'limit' : counts.taken >= roomOfLinks ? 'maxPages' : undefined;
      counts[this.#offerOne(run, offer, isFull)]++;
    }
    const { taken: accepted, scope, maxPages } = counts;
    const known = counts.known + counts.readAgain;
    if (this.#group !== undefined) this.#moves.groups.count(this.#group, this.#members);
    if (accepted > 0 && (optionsOf(run).joins?.run.length ?? 0) > 0) run.joinsDue = 1;
    run.discovered += accepted;
    if (isAnew) run.anew += accepted;
    run.waiting += accepted;
    if (repeat !== true) {
      this.#countDuplicates(run, page, counts.known);
      run.leftOutScope += scope;
      run.leftOutMaxPages += maxPages;
      run.leftOutLimit += counts.limit;
    }
    return takenWith(accepted, known, { scope, maxPages, limit: counts.limit });
  }

  /** Counts the links of a page. If links that it offered before were lost, puts the page back and returns false. */
  #count(run: RunRow, page: TaskRow, { stamp, links }: LinkTally, count: number): boolean {
    const held = heldOf(page, stamp);
    if (held < links) {
      this.#moves.land(run);
      // Its worker has survived it, so its starts don't count.
      this.#moves.putBack(run, { ...page, starts: 0 });
      return false;
    }
    const total = Math.max(held, links + count);
    this.#moves.tasks.countLinks(page, stamp, total);
    return true;
  }

  #offerOne(run: RunRow, offer: Offer, isFull: 'limit' | 'maxPages' | undefined): Answer {
    const task = newTask(offer, this.#moves.now);
    const { mark, host } = task;
    // A run without failures has no failed marks.
    const grp = 'malformed' in offer ? undefined : groupOfMark(mark);
    if (grp === undefined && run.failed > 0 && this.#moves.marks.has(run.n, mark, MARK.failed))
      return this.#known(run, run.n, mark);
    const domain = 'malformed' in offer || this.#options.mostHosts === undefined ? undefined : offer.domain;
    const hosts = domain === undefined ? undefined : this.#hostsOf(run, domain);
    const isOneTooMany = hosts !== undefined && !hosts.has(host) && hosts.size >= (this.#options.mostHosts ?? 0);
    const refusal = isFull ?? (isOneTooMany ? 'scope' : undefined);
    if (!this.#take(run, offer, mark, refusal === undefined))
      return this.#known(
        run,
        grp === undefined ? this.#moves.ownerOf(run) : this.#moves.groups.marksOf(run, grp),
        mark,
      );
    if (refusal !== undefined) return refusal;
    if (domain !== undefined && hosts?.has(host) === false) {
      hosts.add(host);
      this.#moves.database.run('INSERT INTO domainHosts VALUES (?, ?, ?)', run.n, domain, host);
    }
    if (grp === undefined) this.#moves.add(run, task);
    else this.#moves.add(run, task, this.#headPlace(run, task));
    countStep(this.#moves.database, run.n, task, 'discovered');
    return 'taken';
  }

  /** Returns whether the offer's mark is free. If so, and if it `mayTake`, takes it. */
  #take(run: RunRow, offer: Offer, mark: string, mayTake: boolean): boolean {
    const { recrawl, marks, now } = this.#moves;
    const found = { ...this.#discovery, task: this.#moves.nextTask };
    const [grp, replayOf] = 'malformed' in offer ? [] : [groupOfMark(mark), offer.replayOf];
    if (grp !== undefined) return this.#takeMember(run, grp, mark, found, mayTake);
    if (replayOf === 'group') {
      if (recrawl.isOwn(run, mark)) return false;
      if (mayTake) recrawl.take(run, mark, found);
      return true;
    }
    if (optionsOf(run).incremental && !('malformed' in offer)) {
      if (!recrawl.isDueNow(run, offer, () => this.#moves.openRuns(), now)) return false;
      if (mayTake) recrawl.take(run, mark, found);
      return true;
    }
    const owner = this.#moves.ownerOf(run);
    if (!mayTake) return !marks.has(owner, mark, MARK.taken);
    if (!marks.add(owner, mark, MARK.taken, found)) return false;
    if (replayOf === 'task') recrawl.note(run, mark, found);
    return true;
  }

  #takeMember(run: RunRow, grp: string, mark: string, found: Discovery, mayTake: boolean): boolean {
    const { marks, groups } = this.#moves;
    if (!mayTake) return !marks.has(groups.marksOf(run, grp), mark, MARK.taken);
    const parent = this.#parent ?? { mark: '', form: '', claimed: null };
    this.#group ??= marks.has(groups.marksOf(run, grp), mark, MARK.taken) ? undefined : groups.join(run, grp, parent);
    if (!marks.add(groups.marksOf(run, grp), mark, MARK.taken, { ...found, session: run.session })) return false;
    this.#members++;
    return true;
  }

  #headPlace(run: RunRow, { host, queue }: Pick<TaskRow, 'host' | 'queue'>): number {
    const key = `${queue} ${host}`;
    const place = this.#heads.get(key) ?? this.#moves.headPlaces(run, { host, queue }, this.#most);
    this.#heads.set(key, place + 1);
    return place;
  }

  #known(run: RunRow, owner: number, mark: string): Answer {
    // After a crash, the source in which it was found before is read again.
    const discovery = owner < 0 ? { ...this.#discovery, session: run.session } : this.#discovery;
    return run.session > 1 && this.#moves.marks.isReadAgain(owner, mark, discovery) ? 'readAgain' : 'known';
  }

  /** Counts duplicates, and also counts them by source while that source may have to be read again. */
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
