#!lua flags=no-writes,allow-oom
-- Lists the paused hosts, those with the longest time left first.
-- ARGV   prefix, most hosts, time
-- Result {host, ms still paused, reason, 1 if by hand, 1 if its breaker is open, …}
-- Reads only.

local reply = {}
for _, host in ipairs(redis.call('ZRANGE', P .. 'paused', '+inf', '(' .. int(now), 'BYSCORE', 'REV', 'LIMIT', 0, ARGV[2])) do
  local paused, reason, by_hand, open_until =
    unpack(redis.call('HMGET', host_key(host), 'paused_until', 'reason', 'by_hand', 'open_until'))
  for _, value in ipairs({
    host, int(math.max(0, tonumber(paused or '0') - now)), reason or '', by_hand and 1 or 0,
    paused and paused == open_until and 1 or 0,
  }) do
    reply[#reply + 1] = value
  end
end
return reply
