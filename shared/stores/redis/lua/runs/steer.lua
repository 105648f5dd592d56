#!lua flags=allow-oom
-- Pauses, resumes or cancels a run.
-- ARGV   prefix, run, paused | running | cancelled, why it is paused, time
-- Result {the state before, the state after}, or {} if the run is unknown
-- Atomic; run twice, the second changes nothing. A run that has ended stays as it is. A run that a full Redis has paused can be paused
-- by a person too; then it doesn't resume by itself. Resuming lets all tasks that wait for room try once more, and forgets the hosts'
-- troubles, since nobody asked them while the run was paused.

local run, wanted = ARGV[2], ARGV[3]
local key = run_key(run)
local state, ended, needs_room = unpack(redis.call('HMGET', key, 'state', 'ended_at', 'needs_room'))
if not state then return {} end
if ended or state == 'cancelled' or (state == wanted and not needs_room) then return {state, state} end
redis.call('HSET', key, 'state', wanted)
redis.call('HDEL', key, 'needs_room')
if wanted == 'paused' then redis.call('HSET', key, 'pause_reason', ARGV[4]) else redis.call('HDEL', key, 'pause_reason') end
if wanted == 'running' then
  redis.call('HSET', key, 'tries_until', int(now + ROOM_LOOK_MS))
  redis.call('UNLINK', run_key(run, 'trouble'))
  wake_run(run, now)
else
  redis.call('ZREM', P .. 'ready', run)
end
if wanted == 'cancelled' then redis.call('UNLINK', run_key(run, 'producers'), run_key(run, 'inputs')) end
finish_if_done(run)
return {state, redis.call('HGET', key, 'state')}
