#!lua flags=no-writes,allow-oom
-- What the waiting tasks of a run wait for.
-- ARGV   prefix, run, most hosts, time
-- Result {host, waiting, interval ms, ms still paused, reason, 1 if paused by hand, …}
-- Reads only; looks at the hosts that wait longest first.

local run, reply = ARGV[2], {}
local own = tonumber(redis.call('HGET', run_key(run), 'interval_ms') or '0')
for _, host in ipairs(redis.call('ZRANGE', run_key(run, 'ready'), 0, tonumber(ARGV[3]) - 1, 'REV')) do
  local waiting = redis.call('LLEN', list_key(run, 'priority', host)) + redis.call('LLEN', list_key(run, 'normal', host))
  local paused, reason, other, till, by_hand =
    unpack(redis.call('HMGET', host_key(host), 'paused_until', 'reason', 'interval', 'interval_until', 'by_hand'))
  local interval = own
  if tonumber(other or '0') > own and tonumber(till or '0') > now then interval = tonumber(other) end
  for _, value in ipairs({
    host, waiting, int(interval), int(math.max(0, tonumber(paused or '0') - now)), reason or '', by_hand and 1 or 0,
  }) do reply[#reply + 1] = value end
end
return reply
