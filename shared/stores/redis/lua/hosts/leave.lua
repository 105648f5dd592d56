#!lua flags=allow-oom
-- A request is over: frees its place and remembers how long the host took, to a tenth of a millisecond.
-- ARGV   prefix, host, holder, concurrency, duration ms or '', 1 if the request failed, time
-- Result 1 if the place was held
-- Atomic. Run twice, the response time is averaged in twice: harmless.

local key, holder, concurrency, took = host_key(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local held = redis.call('ZREM', key .. ':open', holder)
if not took then return held end
took = math.min(took, LONGEST_RESPONSE_MS)
local average = both_of(redis.call('HGET', key, 'response'))
-- A refused connection is not a quick answer.
if ARGV[6] == '1' and took <= (average or 0) then return held end
average = average and math.floor((average + (took - average) / 4) * 10 + 0.5) / 10 or took
redis.call('HSET', key, 'response', string.format('%.1f ', average) .. int(math.ceil(average / concurrency)))
keep_host(ARGV[2], HOST_KEPT_MS)
return held
