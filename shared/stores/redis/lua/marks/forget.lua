#!lua flags=allow-oom
-- Begins to forget marks, or renews that: from now on, the marks of tasks that come or go back are recorded in `forgetting`, a
-- set that also names who forgets.
-- ARGV   prefix, who, for how many ms, time
-- Result 1, or 0 while somebody else forgets marks
-- Atomic; may run any number of times.

local log = P .. 'forgetting'
if redis.call('EXISTS', log) == 1 and redis.call('SISMEMBER', log, ARGV[2]) == 0 then return 0 end
redis.call('SADD', log, ARGV[2])
redis.call('PEXPIRE', log, ARGV[3])
return 1
