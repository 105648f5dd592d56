#!lua flags=no-writes,allow-oom
-- Lists the paused hosts, those with the longest time left first.
-- ARGV   prefix, hosts to skip, most hosts, time
-- Result {host, ms still paused, reason, 1 if by hand, 1 if its breaker is open, …}
-- Reads only. It takes a range of `paused` from its end, so the number of other hosts doesn't matter.

local reply, first = {}, tonumber(ARGV[2])
local found = redis.call('ZRANGE', P .. 'paused', first, first + tonumber(ARGV[3]) - 1, 'REV', 'WITHSCORES')
for i = 1, #found, 2 do
  if tonumber(found[i + 1]) <= now then break end
  local paused, reason, by_hand, open_until =
    unpack(redis.call('HMGET', host_key(found[i]), 'paused_until', 'reason', 'by_hand', 'open_until'))
  for _, value in ipairs({
    found[i], int(math.max(0, tonumber(paused or '0') - now)), reason or '', by_hand and 1 or 0,
    paused and paused == open_until and 1 or 0,
  }) do
    reply[#reply + 1] = value
  end
end
return reply
