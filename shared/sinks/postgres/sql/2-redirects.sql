-- The URLs that redirects led to, the last one being final_url.
ALTER TABLE trawl_records ADD COLUMN redirects jsonb;
