-- How many items a crawler with steps found on a page: data is null if none, the item if one, else the list of them.
-- Null for crawlers of one function.

ALTER TABLE trawl_records ADD COLUMN items integer;
