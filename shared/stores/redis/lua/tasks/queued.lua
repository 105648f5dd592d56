#!lua flags=allow-oom
-- The broker has confirmed releases: `publishing` becomes `queued`, with the lease of a queued task.
-- ARGV   prefix, run, lease ms of the priority queue, of the normal queue, (release, its mark)…, time
-- Result how many were changed
-- Atomic: each release is changed only while it is still publishing, so a late or repeated call changes nothing.

local run = ARGV[2]
local lease_ms = {priority = tonumber(ARGV[3]), normal = tonumber(ARGV[4])}
local flights, leases = {}, {}
for _, each in ipairs(entries_of(run, 5)) do
  if string.sub(each.entry, 1, 10) == 'publishing' then
    local task = read_flight(each.entry)
    local till, deadline = now + lease_ms[task.queue], deadline_of(task)
    if deadline > 0 then till = math.min(till, deadline + QUEUED_PAST_DEADLINE_MS) end
    flights[#flights + 1], flights[#flights + 2] = each.release, 'queued' .. string.sub(each.entry, 11)
    leases[#leases + 1], leases[#leases + 2] = int(till), each.release
  end
end
return write_ledger(run, flights, leases)
