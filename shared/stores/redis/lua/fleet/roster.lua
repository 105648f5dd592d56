#!lua flags=allow-oom
-- Notes that a worker is alive. Runs even while Redis is full, or the fleet would seem dead.
-- ARGV   prefix, worker, its entry (JSON object), 1 if it is at work, its slots, time
-- Result 1 if the worker is new
-- Needs  troubles.lua
-- Atomic; may run any number of times.
-- Writes `workers`, worker → its entry with `beat`, the time; `workers:slots`, worker → '<slots> <time>'; and
--        `beats`, '<time of the last beat of a worker at work> <total ms without a worker at work>'.

if ARGV[4] == '1' then redis.call('SET', P .. 'beats', int(now) .. ' ' .. int(idle_time())) end
local said = string.sub(ARGV[3], 1, -2) .. ',"beat":' .. int(now) .. '}'
redis.call('HSET', P .. 'workers:slots', ARGV[2], ARGV[5] .. ' ' .. int(now))
return redis.call('HSET', P .. 'workers', ARGV[2], said)
