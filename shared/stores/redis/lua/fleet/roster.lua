#!lua flags=allow-oom
-- A worker is alive. Runs even while Redis is full, or the fleet would seem dead.
-- ARGV   prefix, worker, what it says of itself (JSON object), 1 if it is at work, time
-- Result 1 if the worker is new
-- Needs  troubles.lua
-- Atomic; may run any number of times.
-- Writes `beats`, '<the last beat of any worker at work> <how long none was at work, in all>'.

if ARGV[4] == '1' then redis.call('SET', P .. 'beats', int(now) .. ' ' .. int(idle_time())) end
local said = string.sub(ARGV[3], 1, -2) .. ',"beat":' .. int(now) .. '}'
return redis.call('HSET', P .. 'workers', ARGV[2], said)
