-- Finds when each run began, by its first record. A whole run is read by it, too: it is smaller than the key.

CREATE INDEX trawl_records_began ON trawl_records (run, fetched_at);
