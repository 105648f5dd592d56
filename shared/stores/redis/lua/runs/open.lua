#!lua flags=allow-oom
-- Creates a run, joins it, or reopens a finished one, and adds an open producer.
-- ARGV   prefix, run, options (JSON), interval ms, dedup (ever | run), producer, producer lease ms, form of the marks
--        (exact | compact), what the producer reads or '', ms after which an incremental run takes pages again (0: never
--        because of their age) or '' for any other run, incarnation of a new run, the only incarnation to open or '', 1 to
--        restore that one if the run is unknown, the plan of its joins (JSON) or '', time
-- Result {'created' | 'joined' | 'reopened' | 'cancelled' | 'lost', the run's own options, its incarnation}, or {'marks', the
--        form in force} if that differs
-- Atomic, and ends at most MOST_HOSTS_TRIED pauses; run twice, the second joins with the same producer.
-- A full Redis still lets runs begin: their producers wait for room, like those of runs that have begun.

local run, producer, input = ARGV[2], ARGV[6], ARGV[9]
local only, may_restore = ARGV[12], ARGV[13] == '1'
local key = run_key(run)
if agree_on_marks(ARGV[8]) ~= ARGV[8] then return {'marks', agree_on_marks(ARGV[8])} end
local state, options, incarnation = unpack(redis.call('HMGET', key, 'state', 'options', 'incarnation'))
if only ~= '' and only ~= incarnation and (state or not may_restore) then return {'lost', ARGV[3], only} end
if not incarnation then
  incarnation = only ~= '' and only or ARGV[11]
  -- A run whose hash was damaged has none.
  if state then redis.call('HSET', key, 'incarnation', incarnation) end
end
if state == 'cancelled' then return {'cancelled', options, incarnation} end
local how = 'joined'
if not state then
  how, options = 'created', ARGV[3]
  redis.call('HSET', key, 'state', 'running', 'options', options, 'interval_ms', ARGV[4], 'dedup', ARGV[5],
    'started_at', int(now), 'incarnation', incarnation)
  if ARGV[10] ~= '' then redis.call('HSET', key, 'recrawl_after_ms', ARGV[10]) end
  if ARGV[14] ~= '' then redis.call('HSET', key, 'plan', ARGV[14]) end
  redis.call('ZADD', P .. 'runs', int(now), run)
elseif state == 'finished' then
  how = 'reopened'
  redis.call('HSET', key, 'state', 'running')
  redis.call('HDEL', key, 'ended_at')
  redis.call('ZREM', P .. 'runs:ended', run)
  redis.call('ZREM', P .. 'runs:marked', run)
end
-- With no other run open, what is known about failing hosts is old: ends their breakers' pauses, so that one task tries each host.
if redis.call('ZCARD', P .. 'runs:open') == 0 then
  for _, host in ipairs(redis.call('ZRANGE', P .. 'paused', '+inf', '(' .. int(now), 'BYSCORE', 'REV', 'LIMIT', 0, MOST_HOSTS_TRIED)) do
    local paused, open_until = unpack(redis.call('HMGET', host_key(host), 'paused_until', 'open_until'))
    if paused and paused == open_until then
      redis.call('HDEL', host_key(host), 'paused_until', 'reason', 'open_until', 'probe', 'probe_until')
      redis.call('ZREM', P .. 'paused', host)
    end
  end
end
redis.call('ZADD', P .. 'runs:open', 'NX', int(now), run)
redis.call('ZADD', run_key(run, 'producers'), int(now + tonumber(ARGV[7])), producer)
if input ~= '' then redis.call('HSET', run_key(run, 'inputs'), producer, input) end
return {how, options, incarnation}
