#!lua flags=allow-oom
-- Puts back tasks whose lease lapsed, whatever the state of their run.
-- ARGV   prefix, most tasks, time
-- Result how many were put back
-- Needs  groups.lua
-- Atomic; reads the leases by their end, never the whole ledger.

local budget = tonumber(ARGV[2])
for _, run in ipairs(redis.call('ZRANGE', P .. 'runs:open', 0, -1)) do
  local lapsed = redis.call('ZRANGEBYSCORE', run_key(run, 'leases'), '-inf', int(now), 'LIMIT', 0, budget)
  if #lapsed > 0 then
    local run_state = redis.call('HGET', run_key(run), 'state')
    for _, release in ipairs(lapsed) do
      local entry = redis.call('HGET', run_key(run, 'inflight'), release)
      leave_ledger(run, release)
      if entry then put_back(run, run_state, read_flight(entry)) end
    end
    finish_if_done(run)
    budget = budget - #lapsed
    if budget <= 0 then break end
  end
end
return tonumber(ARGV[2]) - budget
