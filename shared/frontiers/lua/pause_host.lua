#!lua flags=allow-oom
-- Quiets a host for everybody, or ends that.
-- ARGV   prefix, host, ms (0 ends the pause), reason, time
-- Result 1
-- Atomic; may run any number of times.

local host, ms = ARGV[2], tonumber(ARGV[3])
if ms == 0 then redis.call('HDEL', host_key(host), 'paused_until', 'reason') else pause_host(host, ms, ARGV[4]) end
return 1
