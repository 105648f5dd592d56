#!lua flags=allow-oom
-- Keeps the record of a batch's task.
-- ARGV   prefix, run, task, release, record, the most bytes of all records, time
-- Result 1 if it is kept; 0 if the run keeps no records, has no room, or has the record of a later release
-- Atomic; may run any number of times.

local key, task, release, record = run_key(ARGV[2], 'results'), ARGV[3], tonumber(ARGV[4]), ARGV[5]
local size = redis.call('HGET', key, 'size')
if not size then return 0 end
local earlier = redis.call('HGET', key, task)
if earlier and tonumber(string.match(earlier, '^%d+')) > release then return 0 end
local kept = tonumber(size) + #record - (earlier and #earlier or 0)
if kept > tonumber(ARGV[6]) then return 0 end
redis.call('HSET', key, task, int(release) .. '|' .. record, 'size', int(kept))
return 1
