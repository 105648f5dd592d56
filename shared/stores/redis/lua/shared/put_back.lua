-- Shared by release.lua: wakes tasks and runs that wait for a time, or for room in Redis. `used` is the number of bytes that Redis uses,
-- `memory` the number that it may use, or 0 for no limit.

-- Has Redis room for this many bytes, up to a share of what it may use?
local function has_room(used, memory, share, bytes)
  return memory == 0 or used + bytes < memory * share
end

-- Moves put-back tasks whose time has come to the head of their host's list. Their scores are times plus `from`, which is 0, or the
-- offset of tasks that wait for room. Returns how many were moved.
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

-- Wakes tasks that wait for room once there is some. Those that were waiting when a person resumed the run are woken in any case.
local function wake_those_without_room(run, used, memory)
  local woken = 0
  for _, waits in ipairs({{NO_ROOM_FROM, FULL_AT}, {LEAVES_ROOM_FROM, FULL_FOR_OTHERS_AT}}) do
    local till = has_room(used, memory, waits[2], 0) and now or math.min(now, run.tries_until)
    if till > 0 then woken = woken + wake_put_back(run.id, waits[1], till) end
  end
  if run.tries_until > 0 and run.tries_until < now and woken == 0 then redis.call('HDEL', run_key(run.id), 'tries_until') end
end

-- Resumes a run that a full Redis has paused, once there is room for what it needs.
local function resume_with_room(run, used, memory)
  local bytes, share = string.match(run.needs_room or '', '^(%d+) (%S+)$')
  if not bytes or not has_room(used, memory, tonumber(share), tonumber(bytes)) then return end
  redis.call('HSET', run_key(run.id), 'state', 'running')
  redis.call('HDEL', run_key(run.id), 'needs_room', 'pause_reason')
  run.is_running = true
end
