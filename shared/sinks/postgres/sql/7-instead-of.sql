-- The task's original step, if a fallback has taken over. Null if none has.

ALTER TABLE trawl_records ADD COLUMN instead_of text;
