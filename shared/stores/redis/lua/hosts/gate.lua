#!lua flags=allow-oom
-- Takes a host's next slot, or says how long to wait before asking again.
-- ARGV   prefix, host, interval ms, concurrency, holder, longest wait in ms for a pause to end, longest wait in ms for a slot, place
--        lease ms, time
-- Result {1, ms until the slot} or {0, ms, 'pace' | 'concurrency' | 'pause'}
-- Needs  host_pace.lua
-- Atomic. Run twice, a slot is wasted: slower than allowed, never faster.

local host, own, concurrency, holder = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local longest_pause, longest_wait, place_ms = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local key, open = host_key(host), host_key(host) .. ':open'
local farthest = now + RETRY_AFTER_CAP_MS
local next_at, paused, others, response, minute, slow, delay, delay_till, limit = unpack(redis.call('HMGET', key,
  'next_at', 'paused_until', 'interval', 'response', 'minute', 'slow_ms', 'crawl_delay', 'crawl_delay_until', 'limit'))
local interval = interval_of(own, others, response, slow, delay, delay_till, limit)
paused = math.min(as_number(paused), farthest)
if paused > now + longest_pause then return {0, int(paused - now), 'pause'} end

local slot = math.max(now, paused)
if interval > 0 then slot = math.max(slot, math.min(as_number(next_at), farthest)) end
if slot > now + longest_wait then return {0, int(slot - now), 'pace'} end

if concurrency > 0 then
  redis.call('ZREMRANGEBYSCORE', open, '-inf', int(now))
  if redis.call('ZCARD', open) >= concurrency and not redis.call('ZSCORE', open, holder) then
    local wait = math.ceil((both_of(response) or UNKNOWN_RESPONSE_MS) / concurrency)
    return {0, int(math.max(SHORTEST_PLACE_WAIT_MS, wait)), 'concurrency'}
  end
  redis.call('ZADD', open, int(slot + place_ms), holder)
  redis.call('PEXPIRE', open, int(slot - now + place_ms))
end

local this_minute = int(math.floor(slot / MINUTE_MS))
if minute ~= this_minute then redis.call('HSET', key, 'minute', this_minute, 'sent_this_minute', 0) end
redis.call('HINCRBY', key, 'sent_this_minute', 1)
if interval > 0 then
  redis.call('HSET', key, 'next_at', int(slot + interval), 'per_minute', int(MINUTE_MS / interval))
end
keep_host(host, math.max(slot + interval - now, 0) + HOST_KEPT_MS)
return {1, int(slot - now)}
