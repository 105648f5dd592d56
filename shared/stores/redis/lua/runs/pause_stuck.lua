#!lua flags=allow-oom
-- Pauses the runs that are stuck while Redis is full: all their tasks wait for room, and there is none for any of them.
-- ARGV   prefix, bytes that Redis uses, bytes that it may use, time
-- Result {run, why it is paused, …}
-- Atomic; run twice, the second finds them paused, and changes nothing.

local used, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
local reply = {}

local function pause_if_stuck(run)
  local key, put_back = run_key(run), run_key(run, 'putback')
  local state, waiting, refused, refused_bytes = unpack(redis.call('HMGET', key, 'state', 'waiting', 'refused', 'refused_bytes'))
  if state ~= 'running' or not refused or redis.call('HLEN', run_key(run, 'inflight')) > 0 then return end
  local leaving_room = redis.call('ZCOUNT', put_back, int(LEAVES_ROOM_FROM), '+inf')
  local stuck = 0
  if used >= limit * FULL_AT then
    stuck = redis.call('ZCOUNT', put_back, int(NO_ROOM_FROM), '+inf')
  elseif used >= limit * FULL_FOR_OTHERS_AT then
    stuck = leaving_room
  end
  if stuck == 0 or stuck ~= tonumber(waiting) then return end
  -- Assumes that each of them needs as much as the refused links took on average.
  local needed = tonumber(refused_bytes) / tonumber(refused) * stuck
  local share = leaving_room > 0 and FULL_FOR_OTHERS_AT or FULL_AT
  local more = math.max(1, math.ceil(((used + needed) / share - limit) / MEBIBYTE))
  local reason = 'Redis is full: needs about ' .. int(more) .. ' MiB more (maxmemory), then the run resumes by itself'
  redis.call('HSET', key, 'state', 'paused', 'pause_reason', reason, 'needs_room', int(needed) .. ' ' .. share)
  redis.call('ZADD', P .. 'ready', int(now + ROOM_LOOK_MS), run)
  reply[#reply + 1] = run
  reply[#reply + 1] = reason
end

for _, run in ipairs(redis.call('ZRANGE', P .. 'runs:open', 0, -1)) do pause_if_stuck(run) end
return reply
