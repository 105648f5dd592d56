#!lua flags=no-writes,allow-oom
-- How many hosts may be asked now and have something waiting, over all running runs.
-- ARGV   prefix, time
-- Result the number; a host of two runs counts twice
-- Reads only; looks at 100 runs at most, as release does.

local due = 0
for _, run in ipairs(redis.call('ZRANGEBYSCORE', P .. 'ready', '-inf', int(now), 'LIMIT', 0, MOST_RUNS_LOOKED_AT)) do
  -- An error, of a damaged run, is neither.
  if redis.pcall('HGET', run_key(run), 'state') == 'running' then
    local hosts = redis.pcall('ZCOUNT', run_key(run, 'ready'), '-inf', int(now))
    if type(hosts) == 'number' then due = due + hosts end
  end
end
return due
