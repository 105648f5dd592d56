#!lua flags=no-writes,allow-oom
-- Lists the hosts with waiting tasks of a run, and why they wait.
-- ARGV   prefix, run, hosts to skip, most hosts, time
-- Result {host, waiting, interval ms, why it is so long (rate | answers | robots | slowed), response ms or '', what the host said
--        when it was slowed or '', ms still paused, reason, 1 if paused by hand, 1 if its breaker is open,
--        what it gives the run instead of healthy answers (answered | silent | outage | ''), the same for people, when it will be
--        given up for that or '', …}
-- Needs  host_pace.lua, troubles.lua
-- Reads only. It takes a range of `ready` from its end, so the number of other hosts doesn't matter.

local run, reply = ARGV[2], {}
local own = tonumber(redis.call('HGET', run_key(run), 'interval_ms') or '0')
local give_up = tonumber(redis.call('HGET', run_key(run), 'give_up_ms'))
local first = tonumber(ARGV[3])
for _, host in ipairs(redis.call('ZRANGE', run_key(run, 'ready'), first, first + tonumber(ARGV[4]) - 1, 'REV')) do
  local waiting = redis.call('LLEN', list_key(run, 'priority', host)) + redis.call('LLEN', list_key(run, 'normal', host))
  for _, value in ipairs({host, waiting, unpack(circumstances_of(host, own))}) do reply[#reply + 1] = value end
  local trouble = read_trouble(run, host)
  reply[#reply + 1] = trouble and trouble.kind or ''
  reply[#reply + 1] = trouble and trouble.reason or ''
  reply[#reply + 1] = trouble and give_up and int(expected_down_at(trouble, give_up)) or ''
end
return reply
