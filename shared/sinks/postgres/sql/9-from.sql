-- The page that asked for a file that failed or was skipped. Of one that was stored, its data say that.

ALTER TABLE trawl_records ADD COLUMN asked_from text;
