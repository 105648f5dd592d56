#!lua flags=allow-oom
-- A worker is alive. Runs even while Redis is full, or the fleet would seem dead.
-- ARGV   prefix, worker, what it says of itself (JSON object), time
-- Result 1 if the worker is new
-- Atomic; may run any number of times.

local said = string.sub(ARGV[3], 1, -2) .. ',"beat":' .. int(now) .. '}'
return redis.call('HSET', P .. 'workers', ARGV[2], said)
