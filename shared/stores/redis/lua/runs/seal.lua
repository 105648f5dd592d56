#!lua flags=allow-oom
-- A producer has offered all its seeds; without a producer, no more seeds will come from anywhere.
-- ARGV   prefix, run, producer or '', the run's incarnation or '' for any, time
-- Result {the run's state before, the state after}, or {} if the run is unknown or has another incarnation
-- Atomic; run twice, the second finds the producer gone and counts nothing.

local run, producer = ARGV[2], ARGV[3]
local key, producers, inputs = run_key(run), run_key(run, 'producers'), run_key(run, 'inputs')
local state, incarnation = unpack(redis.call('HMGET', key, 'state', 'incarnation'))
if not state or (ARGV[4] ~= '' and ARGV[4] ~= incarnation) then return {} end

-- Lost producers of the same input no longer count: it has now been read to its end.
local function forget_lost(input)
  for _, lost in ipairs(redis.call('ZRANGEBYSCORE', producers, '-inf', '(' .. int(now))) do
    if redis.call('HGET', inputs, lost) == input then
      redis.call('ZREM', producers, lost)
      redis.call('HDEL', inputs, lost)
    end
  end
end

if producer == '' then
  redis.call('UNLINK', producers, inputs)
  redis.call('HINCRBY', key, 'completed', 1)
elseif redis.call('ZREM', producers, producer) == 1 then
  redis.call('HINCRBY', key, 'completed', 1)
  local input = redis.call('HGET', inputs, producer)
  if input then
    redis.call('HDEL', inputs, producer)
    forget_lost(input)
  end
end
finish_if_done(run)
return {state, redis.call('HGET', key, 'state')}
