#!lua
-- Keeps a response, if this minute's share isn't used up.
-- ARGV   prefix, key, TTL ms, most bytes a minute, the response, time
-- Result 0, or ms until the next minute when nothing was kept
-- Atomic. Run twice, the response is counted twice: harmless. Without allow-oom: a full Redis keeps nothing.

local most, size = tonumber(ARGV[4]), #ARGV[5]
local minute = math.floor(now / 60000)
local counter = P .. 'content-bytes:' .. int(minute)
local stored = tonumber(redis.call('GET', counter) or '0')
if stored + size > most then return int((minute + 1) * 60000 - now) end
redis.call('INCRBY', counter, size)
redis.call('PEXPIRE', counter, 120000)
redis.call('SET', P .. 'content:' .. ARGV[2], ARGV[5], 'PX', ARGV[3])
return '0'
