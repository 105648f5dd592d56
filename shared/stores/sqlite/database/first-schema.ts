/**
 * One database holds all local runs. Column names are those of the rows as objects, times are epoch milliseconds.
 *
 * - `runs`: `opened` numbers the open runs in the order they were opened; it is null once a run has ended. Release looks at a run
 *   no earlier than `lookAt`. A `session` begins whenever a process opens the run. `knownOfSeeds` counts the duplicates among the
 *   seeds read since one of their readers was done. A run with a `generation` belongs to a crawl that can be resumed.
 * - `tasks`: a task with a `place` waits in its host's list, one with `dueAt` waits for its retry, and one with a `release` is in
 *   flight. `known` counts the duplicates among its links. A task with `over` came to its `ending` in that generation, and is kept
 *   until its record is on the disk. `stamp` and `links` say what the admission of a task in flight has offered.
 * - `runHosts`: the hosts of a run. Release looks at a host no earlier than `readyAt`, which is null if none of its tasks waits.
 * - `marks`: `task` is the last task made for the mark, and is live while its row has the same mark. `again` is the run that has
 *   taken a shared mark once more, or 0 when none has it in hand any more. `source` is the task whose page it was found on, 0 for a
 *   seed. `session` is when it was last found (for a shared mark, together with its run, see `sessionOf`): a link that is read
 *   again after a crash isn't a duplicate.
 * - `groups`: `left` joins of layer `layer` have not ended. A group with `over` has ended in that generation, and is kept until its
 *   records are on the disk. Its marks are in `marks`, under a negative number made from its id. `groupInputs` is what joins get of
 *   it. `endedGroups` is what the run has counted of groups that have letters, for a replay.
 * - `crawls`: what each run was begun with, and which process has it.
 * - `pagesSwept`: when expired rows of `pages` were last deleted.
 * - `lastWriter`: the store that wrote last, see `moves/local-store.ts`.
 * - `leftovers`: runs whose rows are being deleted, some at a time.
 * - `letters`: dead letters as in a broker's queue, oldest first. No number is used twice, so deleting a letter that was read
 *   before never hits its successor. `run` is 0 if the id names no run.
 */
export const FIRST = `
CREATE TABLE runs (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  incarnation TEXT NOT NULL,
  options TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'running',
  pauseReason TEXT NOT NULL DEFAULT '',
  startedAt INTEGER NOT NULL,
  endedAt INTEGER,
  opened INTEGER,
  lookAt INTEGER,
  touched INTEGER NOT NULL DEFAULT 0,
  completed INTEGER NOT NULL DEFAULT 0,
  releases INTEGER NOT NULL DEFAULT 0,
  discovered INTEGER NOT NULL DEFAULT 0,
  duplicate INTEGER NOT NULL DEFAULT 0,
  leftOut INTEGER NOT NULL DEFAULT 0,
  waiting INTEGER NOT NULL DEFAULT 0,
  inFlight INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0,
  skipped INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  cancelled INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  bytesSaved INTEGER NOT NULL DEFAULT 0,
  session INTEGER NOT NULL DEFAULT 1,
  knownOfSeeds INTEGER NOT NULL DEFAULT 0,
  generation INTEGER
) STRICT;
CREATE UNIQUE INDEX runsOpen ON runs (opened) WHERE opened IS NOT NULL;
CREATE INDEX runsStarted ON runs (startedAt, id);

CREATE TABLE reasons (
  run INTEGER NOT NULL,
  kind TEXT NOT NULL,
  reason TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (run, kind, reason)
) STRICT, WITHOUT ROWID;

CREATE TABLE producers (
  run INTEGER NOT NULL,
  id TEXT NOT NULL,
  till INTEGER NOT NULL,
  input TEXT,
  PRIMARY KEY (run, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  host TEXT NOT NULL,
  queue INTEGER NOT NULL,
  place INTEGER,
  dueAt INTEGER,
  release INTEGER,
  phase TEXT,
  leaseUntil INTEGER,
  since INTEGER,
  worker TEXT,
  mark TEXT NOT NULL,
  claimed TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  starts INTEGER NOT NULL DEFAULT 0,
  throttles INTEGER NOT NULL DEFAULT 0,
  firstSeen INTEGER NOT NULL,
  deadline INTEGER NOT NULL DEFAULT 0,
  known INTEGER NOT NULL DEFAULT 0,
  over INTEGER,
  ending TEXT,
  form TEXT NOT NULL
) STRICT;
CREATE INDEX tasksWaiting ON tasks (run, host, queue, place) WHERE place IS NOT NULL;
CREATE INDEX tasksRetried ON tasks (run, dueAt) WHERE dueAt IS NOT NULL;
CREATE INDEX tasksOver ON tasks (run, over) WHERE over IS NOT NULL;
CREATE UNIQUE INDEX tasksInFlight ON tasks (run, release) WHERE release IS NOT NULL;

CREATE TABLE runHosts (
  run INTEGER NOT NULL,
  host TEXT NOT NULL,
  readyAt INTEGER,
  waiting INTEGER NOT NULL DEFAULT 0,
  troubleSince INTEGER,
  troubleLast INTEGER,
  PRIMARY KEY (run, host)
) STRICT, WITHOUT ROWID;
CREATE INDEX runHostsReady ON runHosts (run, readyAt, host) WHERE readyAt IS NOT NULL;

CREATE TABLE domainHosts (
  run INTEGER NOT NULL,
  domain TEXT NOT NULL,
  host TEXT NOT NULL,
  PRIMARY KEY (run, domain, host)
) STRICT, WITHOUT ROWID;

CREATE TABLE hosts (
  host TEXT PRIMARY KEY,
  nextAt INTEGER NOT NULL DEFAULT 0,
  pausedUntil INTEGER NOT NULL DEFAULT 0,
  reason TEXT NOT NULL DEFAULT '',
  byHand INTEGER NOT NULL DEFAULT 0,
  releaseAt INTEGER NOT NULL DEFAULT 0,
  interval INTEGER NOT NULL DEFAULT 0,
  intervalUntil INTEGER NOT NULL DEFAULT 0,
  crawlDelay INTEGER NOT NULL DEFAULT 0,
  crawlDelayUntil INTEGER NOT NULL DEFAULT 0,
  responseMs REAL,
  responseInterval INTEGER NOT NULL DEFAULT 0,
  slowMs INTEGER NOT NULL DEFAULT 0,
  slowSince INTEGER NOT NULL DEFAULT 0,
  slowReason TEXT NOT NULL DEFAULT '',
  throttles INTEGER NOT NULL DEFAULT 0,
  answeredAt INTEGER NOT NULL DEFAULT 0,
  failing TEXT,
  opened INTEGER NOT NULL DEFAULT 0,
  openUntil INTEGER NOT NULL DEFAULT 0,
  probe TEXT NOT NULL DEFAULT '',
  probeUntil INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX hostsPaused ON hosts (pausedUntil, host) WHERE pausedUntil > 0;

CREATE TABLE places (
  host TEXT NOT NULL,
  holder TEXT NOT NULL,
  till INTEGER NOT NULL,
  PRIMARY KEY (host, holder)
) STRICT, WITHOUT ROWID;

CREATE TABLE marks (
  owner INTEGER NOT NULL,
  mark TEXT NOT NULL,
  bits INTEGER NOT NULL,
  task INTEGER,
  again INTEGER,
  source INTEGER NOT NULL,
  session INTEGER NOT NULL,
  PRIMARY KEY (owner, mark)
) STRICT, WITHOUT ROWID;

CREATE TABLE pages (
  mark TEXT PRIMARY KEY,
  fetchedAt INTEGER NOT NULL,
  page TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
  id INTEGER PRIMARY KEY,
  mark TEXT NOT NULL,
  at INTEGER NOT NULL,
  note TEXT NOT NULL
) STRICT;
CREATE INDEX attemptsOf ON attempts (mark, id);

CREATE TABLE crawls (
  run TEXT PRIMARY KEY,
  beginning TEXT NOT NULL,
  owner TEXT NOT NULL,
  boot TEXT NOT NULL,
  touchedAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE workers (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  beat TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE leftovers (
  run INTEGER PRIMARY KEY
) STRICT;
`;
