#!lua flags=allow-oom
-- Extends working leases.
-- ARGV   prefix, run, (release, its mark)…, time
-- Result how many were renewed
-- Atomic; may run any number of times.

local run, leases = ARGV[2], {}
for _, each in ipairs(entries_of(run, 3)) do
  if string.sub(each.entry, 1, 7) == 'working' then
    leases[#leases + 1], leases[#leases + 2] = int(now + WORKING_MS), each.release
  end
end
if #leases > 0 then redis.call('ZADD', run_key(run, 'leases'), unpack(leases)) end
return #leases / 2
