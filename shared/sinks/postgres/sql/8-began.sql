-- Finds when each run began, by its first record. It also serves to read a whole run, since it is smaller than the key.

CREATE INDEX trawl_records_began ON trawl_records (run, fetched_at);
