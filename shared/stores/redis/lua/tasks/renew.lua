#!lua flags=allow-oom
-- Makes working leases last longer.
-- ARGV   prefix, run, (release, its mark)…, time
-- Result how many were renewed
-- Atomic; may run any number of times.

local run, renewed = ARGV[2], 0
for i = 3, #ARGV - 2, 2 do
  local entry = entry_of(run, ARGV[i], ARGV[i + 1])
  if entry and string.sub(entry, 1, 7) == 'working' then
    redis.call('ZADD', run_key(run, 'leases'), int(now + WORKING_MS), ARGV[i])
    renewed = renewed + 1
  end
end
return renewed
