#!lua flags=allow-oom
-- Makes working leases last longer.
-- ARGV   prefix, run, release…, time
-- Result how many were renewed
-- Atomic; may run any number of times.

local run, renewed = ARGV[2], 0
for i = 3, #ARGV - 1 do
  local entry = redis.call('HGET', run_key(run, 'inflight'), ARGV[i])
  if entry and string.sub(entry, 1, 7) == 'working' then
    redis.call('ZADD', run_key(run, 'leases'), int(now + WORKING_MS), ARGV[i])
    renewed = renewed + 1
  end
end
return renewed
