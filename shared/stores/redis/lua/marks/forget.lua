#!lua flags=allow-oom
-- Somebody begins to forget marks, or is still at it: from now on, tasks that come or go back are told in `forgetting`, a
-- set of marks and of who forgets.
-- ARGV   prefix, who, for how many ms, time
-- Result 1, or 0 while another is at it
-- Atomic; may run any number of times.

local log = P .. 'forgetting'
if redis.call('EXISTS', log) == 1 and redis.call('SISMEMBER', log, ARGV[2]) == 0 then return 0 end
redis.call('SADD', log, ARGV[2])
redis.call('PEXPIRE', log, ARGV[3])
return 1
