-- For a file that failed or was skipped: the page that asked for it. For a stored file, its data name the page.

ALTER TABLE trawl_records ADD COLUMN asked_from text;
