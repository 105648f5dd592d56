#!lua flags=allow-oom
-- Sets the shortest time between two requests to a host: the Crawl-delay of its robots.txt.
-- ARGV   prefix, host, interval ms, for how many ms, time
-- Result 'OK'
-- Atomic; may run any number of times. The next request comes at least one interval from now. A longer delay stays until its own
--         end: http and https of one host may have said different things.

local host, wanted, lasts = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local key = host_key(host)
local delay, till, next_at = unpack(redis.call('HMGET', key, 'crawl_delay', 'crawl_delay_until', 'next_at'))
redis.call('HSET', key, 'next_at', int(math.max(tonumber(next_at or '0'), now + wanted)))
if tonumber(till or '0') <= now or tonumber(delay or '0') <= wanted then
  redis.call('HSET', key, 'crawl_delay', int(wanted), 'crawl_delay_until', int(now + lasts))
end
keep_host(host, lasts + HOST_KEPT_MS)
return 'OK'
