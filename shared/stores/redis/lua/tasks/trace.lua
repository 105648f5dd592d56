#!lua flags=no-writes,allow-oom
-- Returns what a run knows about a task, without searching its lists.
-- ARGV   prefix, run, mark, host, time
-- Result {state, dedup, 1 if marked, 1 if failed, now, ms until the next look at the host, and as in hosts.lua: interval, why it is so
--        long, response, what the host said, pause, reason, by hand, breaker}, or {} if the run is unknown
-- Needs  host_pace.lua
-- Reads only.

local run, mark, host = ARGV[2], ARGV[3], ARGV[4]
local state, dedup, own = unpack(redis.call('HMGET', run_key(run), 'state', 'dedup', 'interval_ms'))
if not state then return {} end
local look = tonumber(redis.call('ZSCORE', run_key(run, 'ready'), host) or now)
return {
  state, dedup, has_mark(marks_of(run), mark), redis.call('SISMEMBER', run_key(run, 'failed'), mark), int(now),
  int(math.max(0, look - now)), unpack(circumstances_of(host, tonumber(own))),
}
