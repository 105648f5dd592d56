#!lua flags=allow-oom
-- Drops marks that had no live task when they were looked up, unless such a task was added or put back since: see forget.lua.
-- ARGV   prefix, the caller's id, key of the set without the prefix or '' for the marks that runs share, mark…, time
-- Result {marks dropped, marks kept}, or {} if the record of tasks added or put back is gone
-- Atomic; run twice, the second drops nothing.

local log = P .. 'forgetting'
if redis.call('SISMEMBER', log, ARGV[2]) == 0 then return {} end
local free, kept = {}, 0
for i = 4, #ARGV - 1 do
  if redis.call('SISMEMBER', log, ARGV[i]) == 1 then kept = kept + 1 else free[#free + 1] = ARGV[i] end
end
if #free == 0 then return {0, kept} end
if ARGV[3] ~= '' then return {redis.call('SREM', P .. ARGV[3], unpack(free)), kept} end
local marks = shared_marks()
local dropped = remove_marks(marks, free)
keep_marks(marks)
return {dropped, kept}
