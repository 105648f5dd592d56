#!lua flags=no-writes,allow-oom
-- Counts the paused hosts.
-- ARGV   prefix, time
-- Result the number
-- Reads only.

return redis.call('ZCOUNT', P .. 'paused', '(' .. int(now), '+inf')
