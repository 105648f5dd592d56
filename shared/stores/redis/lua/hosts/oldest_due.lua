#!lua flags=no-writes,allow-oom
-- Returns how long the longest-waiting host has been due, over all running runs.
-- ARGV   prefix, time
-- Result ms; 0 if no host may be asked now
-- Reads only; looks at 100 runs at most, as release does.

local oldest = now
for _, run in ipairs(redis.call('ZRANGEBYSCORE', P .. 'ready', '-inf', int(now), 'LIMIT', 0, MOST_RUNS_LOOKED_AT)) do
  -- The error of a damaged run is neither 'running' nor a list.
  if redis.pcall('HGET', run_key(run), 'state') == 'running' then
    local first = redis.pcall('ZRANGE', run_key(run, 'ready'), 0, 0, 'WITHSCORES')
    if first[2] then oldest = math.min(oldest, tonumber(first[2])) end
  end
end
return int(now - oldest)
