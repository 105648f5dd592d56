#!lua
-- Keeps a response, if this minute's share isn't used up. The share is spread over the minute, with five seconds' worth
-- at once: kept in one go, it would slow a fast crawl down for a few seconds of every minute.
-- ARGV   prefix, key, TTL ms, most bytes a minute, the response, time
-- Result 0, or ms until there is room again when it wasn't kept
-- Atomic. Run twice, the response is counted twice: harmless. Without allow-oom: a full Redis keeps nothing.

local cost = #ARGV[5] * (MINUTE_MS + BURST_MS) / tonumber(ARGV[4])
local budget = P .. 'content-budget'
local used_until = math.max(now, tonumber(redis.call('GET', budget) or '0'))
if used_until + cost > now + BURST_MS then return int(math.ceil(used_until + cost - now - BURST_MS)) end
redis.call('SET', budget, string.format('%.3f', used_until + cost), 'PX', MINUTE_MS)
redis.call('SET', P .. 'content:' .. ARGV[2], ARGV[5], 'PX', ARGV[3])
return '0'
