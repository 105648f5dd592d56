#!lua flags=allow-oom
-- A request that had its slot is sent only now: the host's next slot comes no sooner than a given time from now.
-- ARGV   prefix, host, ms, time
-- Result 1 if the next slot has been moved
-- Atomic. Run twice, the slot is as late as the second call says.

local key, at = host_key(ARGV[2]), now + tonumber(ARGV[3])
if at <= tonumber(redis.call('HGET', key, 'next_at') or '0') then return 0 end
redis.call('HSET', key, 'next_at', int(at))
keep_host(ARGV[2], at - now + HOST_KEPT_MS)
return 1
