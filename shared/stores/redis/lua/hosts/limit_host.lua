#!lua flags=allow-oom
-- Limits by hand how fast a host is asked, or ends that limit.
-- ARGV   prefix, host, interval ms (0 ends the limit), time
-- Result the interval of the limit before, in ms; '0' for none
-- Atomic; may run any number of times. After a limit ends or becomes faster, the host's next slot is at most as far away as the longest
--         of the new limit, the interval that runs asked for lately, and a second.

local host, wanted = ARGV[2], tonumber(ARGV[3])
local key = host_key(host)
local was, others, next_at, release_at = unpack(redis.call('HMGET', key, 'limit', 'interval', 'next_at', 'release_at'))
if wanted > 0 then
  redis.call('HSET', key, 'limit', int(wanted))
  keep_host(host, LONGEST_PAUSE_MS)
else
  redis.call('HDEL', key, 'limit')
end
if tonumber(was or '0') > wanted then
  local pace = math.max(SECOND_MS, wanted)
  local interval, until_then = both_of(others)
  if interval and until_then > now then pace = math.max(pace, interval) end
  if next_at then redis.call('HSET', key, 'next_at', int(math.min(tonumber(next_at), now + pace))) end
  if release_at then redis.call('HSET', key, 'release_at', int(math.min(tonumber(release_at), now + pace))) end
  wake_everywhere(host)
end
return was or '0'
