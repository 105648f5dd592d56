#!lua flags=no-writes,allow-oom
-- What a run knows of a task, without looking for it in lists.
-- ARGV   prefix, run, mark, host, time
-- Result {state, dedup, 1 if marked, 1 if failed, now, interval ms, ms still paused, reason, 1 if by hand, ms to next look},
--        or {} if the run is unknown
-- Reads only.

local run, mark, host = ARGV[2], ARGV[3], ARGV[4]
local state, dedup, own = unpack(redis.call('HMGET', run_key(run), 'state', 'dedup', 'interval_ms'))
if not state then return {} end
local paused, reason, by_hand, other, till =
  unpack(redis.call('HMGET', host_key(host), 'paused_until', 'reason', 'by_hand', 'interval', 'interval_until'))
local interval = tonumber(own)
if tonumber(other or '0') > interval and tonumber(till or '0') > now then interval = tonumber(other) end
local look = tonumber(redis.call('ZSCORE', run_key(run, 'ready'), host) or now)
return {
  state, dedup, has_mark(marks_of(run), mark), redis.call('SISMEMBER', run_key(run, 'failed'), mark), int(now),
  int(interval), int(math.max(0, tonumber(paused or '0') - now)), reason or '', by_hand and 1 or 0, int(math.max(0, look - now)),
}
