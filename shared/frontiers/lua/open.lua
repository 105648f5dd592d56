#!lua
-- Creates a run, joins it, or opens a finished one again, with one more open producer.
-- ARGV   prefix, run, options (JSON), interval ms, dedup (ever | run), producer, producer lease ms, form of the marks
--        (exact | compact), 1 if it takes over from producers that were lost, ms after which an incremental run takes pages
--        again (0: never for their age) or '' for any other run, time
-- Result {'created' | 'joined' | 'reopened' | 'cancelled', the run's own options}, or {'marks', the form in force} when
--        that is another one
-- Atomic; run twice, the second joins with the same producer.

local run, producer = ARGV[2], ARGV[6]
local key = run_key(run)
if agree_on_marks(ARGV[8]) ~= ARGV[8] then return {'marks', agree_on_marks(ARGV[8])} end
local state, options = unpack(redis.call('HMGET', key, 'state', 'options'))
if state == 'cancelled' then return {'cancelled', options} end
local how = 'joined'
if not state then
  how, options = 'created', ARGV[3]
  redis.call('HSET', key, 'state', 'running', 'options', options, 'interval_ms', ARGV[4], 'dedup', ARGV[5],
    'started_at', int(now))
  if ARGV[10] ~= '' then redis.call('HSET', key, 'recrawl_after_ms', ARGV[10]) end
  redis.call('ZADD', P .. 'runs', int(now), run)
elseif state == 'finished' then
  how = 'reopened'
  redis.call('HSET', key, 'state', 'running')
  redis.call('HDEL', key, 'ended_at')
  redis.call('ZREM', P .. 'runs:ended', run)
end
redis.call('ZADD', P .. 'runs:open', 'NX', int(now), run)
if ARGV[9] == '1' then redis.call('ZREMRANGEBYSCORE', run_key(run, 'producers'), '-inf', '(' .. int(now)) end
redis.call('ZADD', run_key(run, 'producers'), int(now + tonumber(ARGV[7])), producer)
return {how, options}
