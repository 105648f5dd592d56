#!lua flags=allow-oom
-- Deliveries were handed to a worker that need not ack them: from now on a crash loses them, so they get a short lease that brings
-- them back.
-- ARGV   prefix, run, (release, its mark)…, time
-- Result how many were handed over
-- Atomic; may run any number of times. Counts no start, since tasks that wait in a worker have not begun. A late call of queued.lua
--         finds them working and changes nothing; a task that was admitted meanwhile stays as it is.

local run, flights, leases = ARGV[2], {}, {}
for _, each in ipairs(entries_of(run, 3)) do
  if string.sub(each.entry, 1, 8) ~= 'working:' then
    flights[#flights + 1], flights[#flights + 2] = each.release, (string.gsub(each.entry, '^%a+', 'working'))
    leases[#leases + 1], leases[#leases + 2] = int(now + WORKING_MS), each.release
  end
end
return write_ledger(run, flights, leases)
