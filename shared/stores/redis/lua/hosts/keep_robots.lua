#!lua
-- Keeps the rules of a robots.txt. The total size of large ones is bounded; those that would expire first make room.
-- ARGV   prefix, origin, rules (JSON), ms that they are kept, bytes from which on they are large, most bytes of large ones, time
-- Result how many others were dropped
-- Atomic; run twice, the second keeps the same. Without allow-oom: while Redis is full, nothing is kept.
--
--   robots-large       HASH, origin → bytes of each large one, and their sum as `total`
--   robots-large:ends  ZSET, when each of them expires. Those that have expired meanwhile go first, as their end is the earliest

local origin, rules, kept_ms, large, most = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local sizes, ends = P .. 'robots-large', P .. 'robots-large:ends'

local function forget(other)
  local bytes = redis.call('HGET', sizes, other)
  redis.call('ZREM', ends, other)
  if not bytes then return end
  redis.call('HDEL', sizes, other)
  redis.call('HINCRBY', sizes, 'total', -bytes)
end

redis.call('SET', P .. 'robots:' .. origin, rules, 'PX', kept_ms)
forget(origin)
if #rules < large then return 0 end
redis.call('HSET', sizes, origin, #rules)
redis.call('ZADD', ends, int(now + tonumber(kept_ms)), origin)
local total, gone = redis.call('HINCRBY', sizes, 'total', #rules), 0
while total > most do
  local first = redis.call('ZRANGE', ends, 0, 0)[1]
  redis.call('UNLINK', P .. 'robots:' .. first)
  forget(first)
  total, gone = tonumber(redis.call('HGET', sizes, 'total')), gone + 1
end
for _, key in ipairs({sizes, ends}) do
  if redis.call('PTTL', key) < tonumber(kept_ms) then redis.call('PEXPIRE', key, kept_ms) end
end
return gone
