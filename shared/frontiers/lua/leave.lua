#!lua flags=allow-oom
-- A request is over: frees its place and remembers how long the host took.
-- ARGV   prefix, host, holder, duration ms or '', time
-- Result 1 if the place was held
-- Atomic. Run twice, the response time is averaged in twice: harmless.

local key, holder, duration = host_key(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local held = redis.call('ZREM', key .. ':open', holder)
if duration then
  local response = tonumber(redis.call('HGET', key, 'response_ms') or duration)
  redis.call('HSET', key, 'response_ms', int(math.floor(response + (duration - response) / 4 + 0.5)))
  keep_host(ARGV[2], 600000)
end
return held
