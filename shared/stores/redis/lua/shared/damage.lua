-- Shared by release.lua, reap.lua and drain.lua: detects runs and hosts whose keys hold data that no script of ours wrote. They wait,
-- and hold up no others.

-- Errors that show damaged data: a key of another type, a value that should be a number but is not, or a Lua error caused by either.
local DAMAGES = {'^WRONGTYPE', 'is not an integer', 'is no number', '^user_script:%d+:'}

-- Calls a function. Returns nil and its result, or the error text if damaged data made it fail. Any other error, such as a missing
-- right, ends the script.
local function damage_in(call, ...)
  local is_whole, result = pcall(call, ...)
  if is_whole then return nil, result end
  local why = type(result) == 'table' and result.err or result
  for _, pattern in ipairs(DAMAGES) do
    if string.find(why, pattern) then return (string.gsub(why, '%s+', ' ')) end
  end
  error(result, 0)
end

-- Raises an error if the ledger can't be written to: no task may leave its list unless the ledger can take it.
local function check_ledger(run)
  redis.call('HLEN', run_key(run, 'inflight'))
  redis.call('ZADD', run_key(run, 'leases'), 'XX', 0, '')
end

-- Returns a run's counter, 0 if it is not set yet. Raises an error if it isn't a number: a guess could end a run that has tasks left.
local function counter_of(run, name, value)
  return tonumber(value or '0') or error(name .. " of " .. run_key(run) .. " is no number: '" .. value .. "'", 0)
end

-- Deletes a host's record if it isn't a hash; it is then learnt again. Returns whether it was deleted.
local function forget_if_damaged(host)
  local found = redis.pcall('HLEN', host_key(host))
  if type(found) == 'number' or not string.find(found.err, '^WRONGTYPE') then return false end
  redis.call('UNLINK', host_key(host))
  return true
end
