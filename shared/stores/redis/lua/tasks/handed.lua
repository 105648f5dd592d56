#!lua flags=allow-oom
-- Deliveries were handed to a worker that didn't have to ack them: from now on a crash loses them, and a short lease has to
-- bring them back.
-- ARGV   prefix, run, (release, its mark)…, time
-- Result how many were handed over
-- Atomic; may run any number of times. No start is counted: what waits in a worker has not begun. A `queued` that comes
--         late finds them working, and changes nothing; one that was admitted meanwhile stays as it is.

local run, flights, leases = ARGV[2], {}, {}
for _, each in ipairs(entries_of(run, 3)) do
  if string.sub(each.entry, 1, 8) ~= 'working:' then
    flights[#flights + 1], flights[#flights + 2] = each.release, (string.gsub(each.entry, '^%a+', 'working'))
    leases[#leases + 1], leases[#leases + 2] = int(now + WORKING_MS), each.release
  end
end
return write_ledger(run, flights, leases)
