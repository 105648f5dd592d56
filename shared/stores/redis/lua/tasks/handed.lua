#!lua flags=allow-oom
-- Deliveries were handed to a worker that didn't have to ack them: from now on a crash loses them, and a short lease has to
-- bring them back.
-- ARGV   prefix, run, (release, its mark)…, time
-- Result how many were handed over
-- Atomic; may run any number of times. No start is counted: what waits in a worker has not begun. A `queued` that comes
--         late finds them working, and changes nothing; one that was admitted meanwhile stays as it is.

local run, handed = ARGV[2], 0
for i = 3, #ARGV - 2, 2 do
  local entry = entry_of(run, ARGV[i], ARGV[i + 1])
  if entry and string.sub(entry, 1, 8) ~= 'working:' then
    redis.call('HSET', run_key(run, 'inflight'), ARGV[i], (string.gsub(entry, '^%a+', 'working')))
    redis.call('ZADD', run_key(run, 'leases'), int(now + WORKING_MS), ARGV[i])
    handed = handed + 1
  end
end
return handed
