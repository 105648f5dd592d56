-- In an incremental run: true if the content is the same as at the last fetch. Null if it isn't, or if that isn't known.

ALTER TABLE trawl_records ADD COLUMN unchanged boolean;
