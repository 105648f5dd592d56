#!lua flags=allow-oom
-- After the broker's confirm: publishing becomes queued, with the lease of a queued task.
-- ARGV   prefix, run, lease ms of the priority queue, of the normal queue, (release, its mark)…, time
-- Result how many were changed
-- Atomic: each release is changed only while it is still publishing, so a late or repeated call changes nothing.

local run = ARGV[2]
local lease_ms = {priority = tonumber(ARGV[3]), normal = tonumber(ARGV[4])}
local changed = 0
for i = 5, #ARGV - 2, 2 do
  local entry = entry_of(run, ARGV[i], ARGV[i + 1])
  if entry and string.sub(entry, 1, 10) == 'publishing' then
    local task = read_flight(entry)
    local till, deadline = now + lease_ms[task.queue], deadline_of(task)
    if deadline > 0 then till = math.min(till, deadline + QUEUED_PAST_DEADLINE_MS) end
    redis.call('HSET', run_key(run, 'inflight'), ARGV[i], 'queued' .. string.sub(entry, 11))
    redis.call('ZADD', run_key(run, 'leases'), int(till), ARGV[i])
    changed = changed + 1
  end
end
return changed
