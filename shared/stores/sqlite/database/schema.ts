/** Bits of {@link marks.bits}. */
export const MARK = {
  /** Taken: by the run, or by one that shares its marks. */
  taken: 1,
  /** Its task failed in the run. */
  failed: 2,
  /** A run that shares its marks has taken it: an incremental one, or one that replays letters. */
  visited: 4,
} as const;

/** Most rows that one call writes or deletes, so that other users of the database don't wait long. */
export const ROWS_AT_ONCE = 500;

/** The owner of the marks that runs share; a run's own marks are under its number, from 1. */
export const SHARED = 0;

/**
 * One database holds all local runs. Column names are those of the rows as objects, times are epoch milliseconds.
 *
 * - `runs`: `opened` numbers the open runs in the order they were opened; null once a run has ended. `lookAt`: release doesn't
 *   look at the run before. A `session` begins whenever a process opens the run. `knownOfSeeds` counts the duplicates among the
 *   seeds read since one of their readers was done. A run with a `generation` belongs to a crawl that can be resumed.
 * - `tasks`: one with a `place` waits in its host's list, one with `dueAt` for its retry; one with a `release` is in flight.
 *   `known` counts the duplicates among its links. One with `over` came to its `ending` in that generation, and is kept until
 *   its record is on the disk. `stamp` and `links`: what the admission of one in flight has offered.
 * - `runHosts`: the hosts of a run. `readyAt`: release doesn't look at the host before; null if none of its tasks waits.
 * - `marks`: `task` is the last one made for it, and is live while that row has the same mark. `again` is the run that has
 *   taken a shared mark once more, 0 if none has it in hand any more. `source` is the task whose page it was found on, 0 for a
 *   seed. `session` is when it was found last (of a shared mark with its run, see `sessionOf`): what is read again after a
 *   crash is no duplicate.
 * - `groups`: `left` joins of layer `layer` have not ended; one with `over` has ended in that generation, and is kept until then.
 *   Its marks are in `marks`, under a negative number made from its id. `groupInputs`: what joins get of it. `endedGroups`: what the
 *   run has counted of groups that have letters, for a replay.
 * - `crawls`: what each run was begun with, and which process has it.
 * - `lastWriter`: the store that wrote last, see `moves/local-store.ts`.
 * - `leftovers`: runs whose rows are being deleted, some at a time.
 * - `letters`: dead letters as they would lie in a broker's queue, oldest first. No number is used twice: deleting a letter
 *   that was read before never hits its successor. `run` is 0 where the id names none.
 */
const FIRST = `
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

const LETTERS = `
CREATE TABLE letters (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  run INTEGER NOT NULL,
  id TEXT NOT NULL,
  headers TEXT NOT NULL,
  body BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX lettersOf ON letters (run, id) WHERE run > 0;
`;

const LEFT_OUT = `
ALTER TABLE runs RENAME COLUMN leftOut TO leftOutScope;
ALTER TABLE runs ADD COLUMN leftOutDepth INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN leftOutMaxPages INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN leftOutLimit INTEGER NOT NULL DEFAULT 0;
`;

const LEFT_OUT_BY_CONDITION = `
ALTER TABLE runs ADD COLUMN leftOutCondition INTEGER NOT NULL DEFAULT 0;
`;

const TALLIES = `
ALTER TABLE tasks ADD COLUMN stamp TEXT;
ALTER TABLE tasks ADD COLUMN links INTEGER;
`;

const HOST_TROUBLES = `
ALTER TABLE runs ADD COLUMN giveUpMs INTEGER;
ALTER TABLE runs ADD COLUMN hostsDown INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN namedDown TEXT NOT NULL DEFAULT '[]';
ALTER TABLE runHosts ADD COLUMN hasAnswered INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runHosts ADD COLUMN troubleKind TEXT;
ALTER TABLE runHosts ADD COLUMN troubleReason TEXT;
ALTER TABLE runHosts ADD COLUMN silentSince INTEGER;
ALTER TABLE runHosts ADD COLUMN isDown INTEGER NOT NULL DEFAULT 0;
`;

const STEPS = `
CREATE TABLE steps (
  run INTEGER NOT NULL,
  step TEXT NOT NULL,
  state TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (run, step, state)
) STRICT, WITHOUT ROWID;
`;

const STEP_FAILURES = `
CREATE TABLE stepFailures (
  run INTEGER NOT NULL,
  place TEXT NOT NULL,
  pages INTEGER NOT NULL,
  error TEXT NOT NULL,
  PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;
`;

const GROUPS = `
ALTER TABLE runs ADD COLUMN joins INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN joinsDue INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN joinsLayer INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN openGroups INTEGER NOT NULL DEFAULT 0;
CREATE TABLE groups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL,
  grp TEXT NOT NULL,
  owner TEXT NOT NULL,
  open INTEGER NOT NULL DEFAULT 1,
  ended TEXT,
  layer INTEGER NOT NULL DEFAULT 0,
  left INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  large INTEGER NOT NULL DEFAULT 0,
  over INTEGER
) STRICT;
CREATE UNIQUE INDEX groupsOf ON groups (run, grp);
CREATE INDEX groupsOver ON groups (run, over) WHERE over IS NOT NULL;
CREATE TABLE groupInputs (
  grp INTEGER NOT NULL,
  mark TEXT NOT NULL,
  n INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  input TEXT,
  PRIMARY KEY (grp, mark)
) STRICT, WITHOUT ROWID;
`;

const HAND_LIMITS = `
ALTER TABLE hosts ADD COLUMN handLimit INTEGER NOT NULL DEFAULT 0;
`;

const REPLAYED_GROUPS = `
ALTER TABLE groups ADD COLUMN claimed TEXT;
ALTER TABLE runs ADD COLUMN anew INTEGER NOT NULL DEFAULT 0;
CREATE TABLE endedGroups (
  run INTEGER NOT NULL,
  grp TEXT NOT NULL,
  at INTEGER NOT NULL,
  ends TEXT NOT NULL,
  PRIMARY KEY (run, grp)
) STRICT, WITHOUT ROWID;
CREATE INDEX endedGroupsAt ON endedGroups (at);
`;

const PLACES = `
ALTER TABLE hosts ADD COLUMN places TEXT NOT NULL DEFAULT '';
DROP TABLE places;
`;

const SHORT_ROWS = `
UPDATE tasks SET phase = substr(phase, 1, 1) WHERE phase IS NOT NULL;
UPDATE tasks SET ending = CASE WHEN ending ->> 'reason' IS NULL
  THEN json_array(ending ->> 'kind', ending ->> 'bytes', ending ->> 'bytesSaved')
  ELSE json_array(ending ->> 'kind', ending ->> 'bytes', ending ->> 'bytesSaved', ending ->> 'reason') END WHERE ending IS NOT NULL;
`;

const LAST_WRITER = `
CREATE TABLE lastWriter (
  writer TEXT NOT NULL
) STRICT;
INSERT INTO lastWriter VALUES ('');
`;

/** What each version adds to the one before it. */
export const SCHEMA_STEPS: readonly string[] = [
  FIRST,
  LETTERS,
  LEFT_OUT,
  LEFT_OUT_BY_CONDITION,
  TALLIES,
  HOST_TROUBLES,
  STEPS,
  STEP_FAILURES,
  GROUPS,
  HAND_LIMITS,
  REPLAYED_GROUPS,
  PLACES,
  SHORT_ROWS,
  LAST_WRITER,
];

/** Written into each database. A database of a newer version is refused: this program doesn't know what it would break. */
export const SCHEMA_VERSION = SCHEMA_STEPS.length;
