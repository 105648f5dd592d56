#!lua flags=allow-oom
-- Begins to forget marks, or extends the time for it: meanwhile, the marks of tasks that are added or put back are recorded in the
-- set `forgetting`, which also holds the caller's id.
-- ARGV   prefix, the caller's id, for how many ms, time
-- Result 1, or 0 while another caller forgets marks
-- Atomic; may run any number of times.

local log = P .. 'forgetting'
if redis.call('EXISTS', log) == 1 and redis.call('SISMEMBER', log, ARGV[2]) == 0 then return 0 end
redis.call('SADD', log, ARGV[2])
redis.call('PEXPIRE', log, ARGV[3])
return 1
