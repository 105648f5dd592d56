-- In a run that keeps the main content of its pages: the part of the page that the content comes from (article, main, page), and
-- the page's metadata about its article. Null in other runs.

ALTER TABLE trawl_records ADD COLUMN content_of text, ADD COLUMN article jsonb;
