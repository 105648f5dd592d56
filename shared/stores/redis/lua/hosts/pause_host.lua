#!lua flags=allow-oom
-- Pauses a host for everybody, or ends its pause.
-- ARGV   prefix, host, ms | 'by_hand' (until it is ended by hand) | 'end', reason, time
-- Result {ms that it was still paused before, why, 1 if by hand, 1 if its breaker was open}
-- Atomic; may run any number of times. Ending a pause lets release look at the host at once, in every open run, and forgets its
--         troubles: a person who ends a pause wants the host to be asked.

local host, wanted, reason = ARGV[2], ARGV[3], ARGV[4]
local key = host_key(host)
local paused, why, by_hand, open_until =
  unpack(redis.call('HMGET', key, 'paused_until', 'reason', 'by_hand', 'open_until'))
local was_ms = math.max(0, tonumber(paused or '0') - now)

if wanted == 'end' then
  redis.call('HDEL', key, 'paused_until', 'reason', 'by_hand')
  redis.call('ZREM', P .. 'paused', host)
  if was_ms > 0 then
    redis.call('HDEL', key, 'failing', 'opened', 'open_until', 'probe', 'probe_until', 'slow_ms', 'slow_since',
      'slow_reason', 'throttles')
    for _, run in ipairs(redis.call('ZRANGE', P .. 'runs:open', 0, -1)) do
      redis.call('HDEL', run_key(run, 'trouble'), host)
    end
    wake_everywhere(host)
  end
elseif wanted == 'by_hand' then
  pause_host(host, LONGEST_PAUSE_MS, reason)
  redis.call('HSET', key, 'by_hand', '1', 'reason', reason)
else
  pause_host(host, math.min(tonumber(wanted), RETRY_AFTER_CAP_MS), reason)
end
if was_ms == 0 then return {'0', '', 0, 0} end
return {int(was_ms), why or '', by_hand and 1 or 0, paused == open_until and 1 or 0}
