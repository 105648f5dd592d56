import { FIRST } from './first-schema.ts';

/** Bits of `marks.bits`. */
export const MARK = {
  /** Taken: by the run, or by one that shares its marks. */
  taken: 1,
  /** Its task failed in the run. */
  failed: 2,
  /** A run that shares its marks has taken it: an incremental one, or one that replays letters. */
  visited: 4,
} as const;

/** Maximum rows that one call reads, writes or deletes, so that other users of the database don't wait long. */
export const ROWS_AT_ONCE = 500;

/** The owner of the marks that runs share; a run's own marks are under its number, from 1. */
export const SHARED = 0;

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

const MISSING_INPUTS = `
CREATE INDEX groupInputsMissing ON groupInputs (grp, n) WHERE outcome <> 'done';
`;

const PAGES_SWEPT = `
CREATE TABLE pagesSwept (
  at INTEGER NOT NULL
) STRICT;
INSERT INTO pagesSwept VALUES (0);
`;

/** The SQL that each version adds to the one before it. */
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
  MISSING_INPUTS,
  PAGES_SWEPT,
];

/** Written into each database. A database of a newer version is refused: this program doesn't know what it would break. */
export const SCHEMA_VERSION = SCHEMA_STEPS.length;
