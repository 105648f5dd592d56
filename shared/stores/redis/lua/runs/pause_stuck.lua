#!lua flags=allow-oom
-- Pauses a run if nothing of it can end while Redis is full: all its tasks wait for room, and there is none for any of them.
-- ARGV   prefix, run, bytes that Redis uses, those that it may use or 0, time
-- Result why it is paused, or '' if it isn't
-- Atomic; run twice, the second finds it paused, and changes nothing.

local run, used, limit = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local key = run_key(run)
local state, waiting, refused, refused_bytes = unpack(redis.call('HMGET', key, 'state', 'waiting', 'refused', 'refused_bytes'))
if state ~= 'running' or limit == 0 or redis.call('HLEN', run_key(run, 'inflight')) > 0 then return '' end
local function waits_from(score) return redis.call('ZCOUNT', run_key(run, 'putback'), int(score), '+inf') end
local leaving_room = waits_from(LEAVES_ROOM_FROM)
local stuck = used >= limit * FULL_AT and waits_from(NO_ROOM_FROM) or used >= limit * FULL_FOR_OTHERS_AT and leaving_room or 0
if stuck == 0 or stuck ~= tonumber(waiting) then return '' end

-- As much as their links took on average, each of them.
local needed = tonumber(refused_bytes) / tonumber(refused) * stuck
local share = leaving_room > 0 and FULL_FOR_OTHERS_AT or FULL_AT
local more = math.max(1, math.ceil(((used + needed) / share - limit) / MEBIBYTE))
local reason = 'Redis is full: needs about ' .. int(more) .. ' MiB more (maxmemory), and goes on by itself then'
redis.call('HSET', key, 'state', 'paused', 'pause_reason', reason, 'needs_room', int(needed) .. ' ' .. share)
redis.call('ZADD', P .. 'ready', int(now + ROOM_LOOK_MS), run)
return reason
