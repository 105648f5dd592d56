#!lua flags=no-writes,allow-oom
-- Returns the main counters of some open runs, the most recently opened first.
-- ARGV   prefix, runs to skip, most runs, time
-- Result {runs looked at, now, run, started at, waiting, in flight, done, skipped, failed, …}; damaged runs are left out
-- Reads only. It takes a range of `runs:open` from its end, so the number of other runs doesn't matter.

local first = tonumber(ARGV[2])
local runs = redis.call('ZRANGE', P .. 'runs:open', first, first + tonumber(ARGV[3]) - 1, 'REV')
local reply = {#runs, int(now)}
for _, run in ipairs(runs) do
  local fields = redis.pcall('HMGET', run_key(run), 'started_at', 'waiting', 'done', 'skipped', 'failed')
  local in_flight = redis.pcall('HLEN', run_key(run, 'inflight'))
  local is_whole = not fields.err and type(in_flight) == 'number'
  local counts = {run, 0, 0, in_flight, 0, 0, 0}
  for i, at in ipairs({2, 3, 5, 6, 7}) do
    counts[at] = is_whole and tonumber(fields[i] or '0')
    is_whole = is_whole and counts[at] ~= nil
  end
  if is_whole then
    for _, value in ipairs(counts) do reply[#reply + 1] = value end
  end
end
return reply
