#!lua flags=allow-oom
-- A producer has offered all it had; without one, no seeds will come at all.
-- ARGV   prefix, run, producer or '', time
-- Result {the run's state before, the state after}, or {} if it is unknown
-- Atomic; run twice, the second finds the producer gone and counts nothing.

local run, producer = ARGV[2], ARGV[3]
local key = run_key(run)
local state = redis.call('HGET', key, 'state')
if not state then return {} end
if producer == '' then
  redis.call('UNLINK', run_key(run, 'producers'))
  redis.call('HINCRBY', key, 'completed', 1)
elseif redis.call('ZREM', run_key(run, 'producers'), producer) == 1 then
  redis.call('HINCRBY', key, 'completed', 1)
end
finish_if_done(run)
return {state, redis.call('HGET', key, 'state')}
