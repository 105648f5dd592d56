#!lua flags=no-writes,allow-oom
-- Returns the inputs of a join in flight: what its group has kept for it.
-- ARGV   prefix, run, release, the join's mark, time
-- Result {} if the ledger has no such release of that task; else {1 if there was more than could be kept, or 0, how many members and
--        joins failed, were skipped, were cancelled, then field, value, … of the inputs}
-- Needs  groups.lua
-- Reads only.

local run = ARGV[2]
if not entry_of(run, ARGV[3], ARGV[4]) then return {} end
local group = group_in(ARGV[4])
local large, failed, skipped, cancelled =
  unpack(redis.call('HMGET', group_key(run, group), 'large', 'failed', 'skipped', 'cancelled'))
local reply = {large and 1 or 0, tonumber(failed or '0'), tonumber(skipped or '0'), tonumber(cancelled or '0')}
local inputs = redis.call('HGETALL', inputs_key(run, group))
for i = 1, #inputs do reply[#reply + 1] = inputs[i] end
return reply
