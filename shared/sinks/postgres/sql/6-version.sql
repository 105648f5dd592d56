-- The version of the crawler: 8 hex digits. Null for what no crawler had in hand.

ALTER TABLE trawl_records ADD COLUMN version text;
