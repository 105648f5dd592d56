#!lua flags=no-writes,allow-oom
-- Counts the hosts that may be asked now and have tasks waiting, over all running runs.
-- ARGV   prefix, time
-- Result the number; a host of two runs counts twice
-- Reads only; looks at 2,000 runs at most.

local due = 0
for _, run in ipairs(redis.call('ZRANGEBYSCORE', P .. 'ready', '-inf', int(now), 'LIMIT', 0, MOST_RUNS_COUNTED)) do
  -- The error of a damaged run is neither 'running' nor a number.
  if redis.pcall('HGET', run_key(run), 'state') == 'running' then
    local hosts = redis.pcall('ZCOUNT', run_key(run, 'ready'), '-inf', int(now))
    if type(hosts) == 'number' then due = due + hosts end
  end
end
return due
