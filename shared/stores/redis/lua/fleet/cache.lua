#!lua
-- Stores a response, unless this minute's share is used up. The share is spread over the minute, with five seconds' worth at
-- once: spent in one go, it would slow down a fast crawl for a few seconds of every minute.
-- ARGV   prefix, key, TTL ms, most bytes a minute, the response, time
-- Result 0 if stored, else ms until there is room again
-- Atomic. Run twice, the response is counted twice: harmless. Without allow-oom: a full Redis stores nothing.

local cost = #ARGV[5] * (MINUTE_MS + BURST_MS) / tonumber(ARGV[4])
local budget = P .. 'content-budget'
local used_until = math.max(now, tonumber(redis.call('GET', budget) or '0'))
if used_until + cost > now + BURST_MS then return int(math.ceil(used_until + cost - now - BURST_MS)) end
redis.call('SET', budget, string.format('%.3f', used_until + cost), 'PX', MINUTE_MS)
redis.call('SET', P .. 'content:' .. ARGV[2], ARGV[5], 'PX', ARGV[3])
return '0'
