-- Number of items that a crawler with steps found on a page. With none, data is null; with one, it is the item; with more, their
-- list. Null for crawlers that are one function.

ALTER TABLE trawl_records ADD COLUMN items integer;
