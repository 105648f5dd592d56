#!lua flags=no-writes,allow-oom
-- Counts the hosts that may be asked now and have tasks waiting, over some running runs.
-- ARGV   prefix, runs to skip, most runs, time
-- Result {runs looked at, hosts}; a host of two runs counts twice
-- Reads only.

local due = 0
local runs = redis.call('ZRANGEBYSCORE', P .. 'ready', '-inf', int(now), 'LIMIT', tonumber(ARGV[2]), tonumber(ARGV[3]))
for _, run in ipairs(runs) do
  -- The error of a damaged run is neither 'running' nor a number.
  if redis.pcall('HGET', run_key(run), 'state') == 'running' then
    local hosts = redis.pcall('ZCOUNT', run_key(run, 'ready'), '-inf', int(now))
    if type(hosts) == 'number' then due = due + hosts end
  end
end
return {#runs, due}
