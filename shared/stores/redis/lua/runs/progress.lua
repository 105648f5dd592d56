#!lua flags=no-writes,allow-oom
-- Returns every counter of a run, at one moment.
-- ARGV   prefix, run, time
-- Result {now, tasks in flight, producers alive, producers lost, {lost producer, until when it counted as alive, …: at most
--        ten}, {state and step, tasks, …}, {place, pages and error, …}, field, value, …}, or {} if the run is unknown
-- Reads only.

local run = ARGV[2]
local fields = redis.call('HGETALL', run_key(run))
if #fields == 0 then return {} end
local producers = run_key(run, 'producers')
local reply = {
  int(now),
  redis.call('HLEN', run_key(run, 'inflight')),
  redis.call('ZCOUNT', producers, int(now), '+inf'),
  redis.call('ZCOUNT', producers, '-inf', '(' .. int(now)),
  redis.call('ZRANGEBYSCORE', producers, '-inf', '(' .. int(now), 'WITHSCORES', 'LIMIT', 0, 10),
  redis.call('HGETALL', run_key(run, 'steps')),
  redis.call('HGETALL', run_key(run, 'places')),
}
for i = 1, #fields do reply[#reply + 1] = fields[i] end
return reply
