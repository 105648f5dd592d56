-- Of an incremental run: is the content the same as at the last fetch? Nothing where it isn't, or isn't known.

ALTER TABLE trawl_records ADD COLUMN unchanged boolean;
