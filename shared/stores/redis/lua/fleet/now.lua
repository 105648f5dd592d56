#!lua flags=no-writes,allow-oom
-- The time that all scripts use.
-- ARGV   prefix, time
-- Result epoch ms
-- Reads only.

return int(now)
