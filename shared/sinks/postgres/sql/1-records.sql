-- One row per task: the record of its highest release.
-- The key begins with the run, so that it also finds all records of a run. No index on a URL: one of 8 KiB wouldn't fit.

CREATE TABLE trawl_records (
  run          text        NOT NULL,
  task         text        NOT NULL,
  release      bigint      NOT NULL,
  outcome      text        NOT NULL,
  reason       text,
  crawler      text        NOT NULL,
  step         text        NOT NULL,
  url          text        NOT NULL,
  final_url    text,
  status       integer,
  title        text,
  content_type text,
  content_hash text,
  bytes        bigint,
  fetched_at   timestamptz NOT NULL,
  duration_ms  bigint,
  attempt      integer     NOT NULL,
  worker       text        NOT NULL,
  from_cache   boolean,
  depth        integer     NOT NULL,
  error        text,
  data         jsonb,
  content      text,
  PRIMARY KEY (run, task)
);
