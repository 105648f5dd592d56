-- The step whose task it was, where a fallback has taken over. Null where none has.

ALTER TABLE trawl_records ADD COLUMN instead_of text;
