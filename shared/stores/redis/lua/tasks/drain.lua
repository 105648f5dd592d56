#!lua flags=allow-oom
-- Counts waiting tasks of cancelled runs as cancelled, and frees their marks.
-- ARGV   prefix, most tasks, time
-- Result how many were drained
-- Needs  damage.lua, groups.lua
-- Atomic per call; called again until it answers 0.

local budget = tonumber(ARGV[2])

local function end_members(run, marks)
  for _, mark in ipairs(marks) do end_in_group(run, mark, 'cancelled') end
end

local function drain_list(run, key, host)
  local entries = redis.call('LPOP', key, budget)
  if not entries then return 0 end
  local marks = {}
  for i, entry in ipairs(entries) do marks[i] = mark_in(entry) end
  free_marks(run, marks)
  if host ~= MALFORMED_HOST then end_members(run, marks) end
  return #entries
end

local function drain_retries(run)
  local popped = redis.call('ZPOPMIN', run_key(run, 'putback'), budget)
  local marks = {}
  for i = 1, #popped, 2 do marks[#marks + 1] = mark_in(popped[i]) end
  if #marks > 0 then free_marks(run, marks) end
  end_members(run, marks)
  return #popped / 2
end

local function drain_run(run)
  local state, waiting = unpack(redis.call('HMGET', run_key(run), 'state', 'waiting'))
  if state ~= 'cancelled' then return end
  counter_of(run, 'waiting', waiting)
  local drained = 0
  for _, host in ipairs(redis.call('ZRANGE', run_key(run, 'ready'), 0, 199)) do
    for _, queue in ipairs({'priority', 'normal'}) do
      if budget > 0 then
        local n = drain_list(run, list_key(run, queue, host), host)
        drained, budget = drained + n, budget - n
      end
    end
    if budget <= 0 then break end
    redis.call('ZREM', run_key(run, 'ready'), host)
  end
  if budget > 0 then
    local n = drain_retries(run)
    drained, budget = drained + n, budget - n
  end
  if drained > 0 then
    redis.call('HINCRBY', run_key(run), 'waiting', -drained)
    redis.call('HINCRBY', run_key(run), 'cancelled', drained)
  end
  finish_if_done(run)
end

for _, run in ipairs(redis.call('ZRANGE', P .. 'runs:open', 0, -1)) do
  if budget <= 0 then break end
  damage_in(drain_run, run)
end
return tonumber(ARGV[2]) - budget
