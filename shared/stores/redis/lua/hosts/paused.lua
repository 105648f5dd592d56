#!lua flags=no-writes,allow-oom
-- Returns how much longer a host is paused.
-- ARGV   prefix, host, time
-- Result ms, 0 if it isn't paused
-- Reads only.

local paused = tonumber(redis.call('HGET', host_key(ARGV[2]), 'paused_until') or '0')
return math.max(0, paused - now)
