#!lua flags=allow-oom
-- Drops the compact marks that runs share, a few shards a call, the last shard first, so that the remaining digests are still
-- in their right shards. Digests can't be compared with waiting tasks, so nothing is dropped while a run that shares them is open.
-- ARGV   prefix, most shards, time
-- Result {marks dropped, marks left, the open run that prevents it or ''}
-- Atomic; may run any number of times.

local key = MARKS .. ':compact'
local shards = tonumber(redis.call('HGET', key, 'shards') or '0')
local function left() return tonumber(redis.call('HGET', key, 'members') or '0') end
for _, run in ipairs(redis.call('ZRANGE', P .. 'runs:open', 0, -1)) do
  if redis.call('HGET', run_key(run), 'dedup') ~= 'run' then return {0, left(), run} end
end
local dropped = 0
for _ = 1, math.min(shards, tonumber(ARGV[2])) do
  shards = shards - 1
  dropped = dropped + redis.call('SCARD', shard_key(shards))
  redis.call('DEL', shard_key(shards))
end
-- The first shard stays, even though it is empty.
redis.call('HSET', key, 'shards', math.max(1, shards))
redis.call('HINCRBY', key, 'members', -dropped)
return {dropped, left(), ''}
