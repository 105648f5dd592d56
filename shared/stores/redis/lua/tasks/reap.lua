#!lua flags=allow-oom
-- Puts back tasks whose lease lapsed, whatever the state of their run.
-- ARGV   prefix, most tasks, time
-- Result how many were put back
-- Needs  damage.lua, groups.lua
-- Atomic; reads the leases by their end, never the whole ledger.

local budget = tonumber(ARGV[2])

local function reap_run(run)
  local lapsed = redis.call('ZRANGEBYSCORE', run_key(run, 'leases'), '-inf', int(now), 'LIMIT', 0, budget)
  if #lapsed == 0 then return end
  local run_state, waiting = unpack(redis.call('HMGET', run_key(run), 'state', 'waiting'))
  counter_of(run, 'waiting', waiting)
  redis.call('ZCARD', run_key(run, 'ready'))
  for _, release in ipairs(lapsed) do
    local entry = redis.call('HGET', run_key(run, 'inflight'), release)
    local task = entry and read_flight(entry)
    -- Fails here if the list can't take the task, so that it stays in the ledger.
    if task then redis.call('LLEN', list_key(run, task.queue, task.host)) end
    leave_ledger(run, release)
    if task then put_back(run, run_state, task) end
    budget = budget - 1
  end
  finish_if_done(run)
end

for _, run in ipairs(redis.call('ZRANGE', P .. 'runs:open', 0, -1)) do
  if budget <= 0 then break end
  damage_in(reap_run, run)
end
return tonumber(ARGV[2]) - budget
