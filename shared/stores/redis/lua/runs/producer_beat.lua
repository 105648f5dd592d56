#!lua flags=allow-oom
-- A producer is alive.
-- ARGV   prefix, run, producer, producer lease ms, time
-- Result 1 if it is an open producer of the run
-- Atomic; may run any number of times.

return redis.call('ZADD', run_key(ARGV[2], 'producers'), 'XX', 'CH', int(now + tonumber(ARGV[4])), ARGV[3])
