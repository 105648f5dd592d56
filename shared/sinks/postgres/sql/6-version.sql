-- The version of the crawler, 8 hex digits. Null if no crawler had the task in hand.

ALTER TABLE trawl_records ADD COLUMN version text;
