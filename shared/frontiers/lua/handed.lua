#!lua flags=allow-oom
-- Deliveries were handed to a worker that didn't have to ack them: from now on a crash loses them, and a short lease has to
-- bring them back.
-- ARGV   prefix, run, release…, time
-- Result how many there were
-- Atomic; may run any number of times. No start is counted: what waits in a worker has not begun. A `queued` that comes
--         late finds them working, and changes nothing.

local run, handed = ARGV[2], 0
for i = 3, #ARGV - 1 do
  local entry = redis.call('HGET', run_key(run, 'inflight'), ARGV[i])
  if entry then
    redis.call('HSET', run_key(run, 'inflight'), ARGV[i], 'working ' .. write_located(read_flight(entry)))
    redis.call('ZADD', run_key(run, 'leases'), int(now + WORKING_MS), ARGV[i])
    handed = handed + 1
  end
end
return handed
