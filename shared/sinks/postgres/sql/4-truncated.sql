-- The parts of a page that were cut because they were too large. Null if all are complete.

ALTER TABLE trawl_records ADD COLUMN truncated jsonb;
