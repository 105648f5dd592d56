-- Shared by release.lua: what waits for a time, or for room in Redis, goes on. `used` are the bytes that Redis uses, `memory` those
-- that it may use, or 0.

-- Has Redis room for this many bytes, up to a share of what it may use?
local function has_room(used, memory, share, bytes)
  return memory == 0 or used + bytes < memory * share
end

-- Put back tasks whose time has come rejoin their host's list, at the head. Returns how many there were.
local function wake_put_back(run, from, till)
  local due = redis.call('ZRANGEBYSCORE', run_key(run, 'putback'), int(from), int(from + till), 'LIMIT', 0, MOST_RETRIES_WOKEN)
  for _, located in ipairs(due) do
    local host, queue, entry = string.match(located, '^(%S+) (%a+) (%d+ %d+ .*)$')
    redis.call('ZREM', run_key(run, 'putback'), located)
    if not host then host, queue, entry = MALFORMED_HOST, 'normal', unreadable(located) end
    redis.call('LPUSH', list_key(run, queue, host), entry)
    redis.call('ZADD', run_key(run, 'ready'), 'NX', int(now), host)
  end
  return #due
end

-- Tasks that wait for room try again once there is some; those from before somebody resumed the run, whatever there is.
local function wake_those_without_room(run, used, memory)
  local woken = 0
  for _, waits in ipairs({{NO_ROOM_FROM, FULL_AT}, {LEAVES_ROOM_FROM, FULL_FOR_OTHERS_AT}}) do
    local till = has_room(used, memory, waits[2], 0) and now or math.min(now, run.tries_until)
    if till > 0 then woken = woken + wake_put_back(run.id, waits[1], till) end
  end
  if run.tries_until > 0 and run.tries_until < now and woken == 0 then redis.call('HDEL', run_key(run.id), 'tries_until') end
end

-- A run that a full Redis has paused goes on when there is room for what it needs.
local function resume_with_room(run, used, memory)
  local bytes, share = string.match(run.needs_room or '', '^(%d+) (%S+)$')
  if not bytes or not has_room(used, memory, tonumber(share), tonumber(bytes)) then return end
  redis.call('HSET', run_key(run.id), 'state', 'running')
  redis.call('HDEL', run_key(run.id), 'needs_room', 'pause_reason')
  run.is_running = true
end
