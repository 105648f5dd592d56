-- Of a run that keeps the main content of its pages: of what the content is (article, main, page), and what the page says of its
-- article. Null in others.

ALTER TABLE trawl_records ADD COLUMN content_of text, ADD COLUMN article jsonb;
