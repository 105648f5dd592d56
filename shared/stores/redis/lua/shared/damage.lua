-- Shared by release.lua, reap.lua and drain.lua: runs and hosts of which Redis has something that nobody of ours wrote. They wait, and
-- hold up no others.

-- What of an error shows that data is damaged: a key of another type, a number that is none, or a Lua error over either.
local DAMAGES = {'^WRONGTYPE', 'is not an integer', 'is no number', '^user_script:%d+:'}

-- Calls a function. Returns why what Redis has ended it, or nil and its result. What else ends a script, such as a missing right, ends
-- this one.
local function damage_in(call, ...)
  local is_whole, result = pcall(call, ...)
  if is_whole then return nil, result end
  local why = type(result) == 'table' and result.err or result
  for _, pattern in ipairs(DAMAGES) do
    if string.find(why, pattern) then return (string.gsub(why, '%s+', ' ')) end
  end
  error(result, 0)
end

-- Ends the script, or what calls it, if the ledger can't be written to: nothing may leave its list that the ledger could not take.
local function check_ledger(run)
  redis.call('HLEN', run_key(run, 'inflight'))
  redis.call('ZADD', run_key(run, 'leases'), 'XX', 0, '')
end

-- A counter of a run, 0 if it has none yet. Counting on from a guess could end a run that has tasks left.
local function counter_of(run, name, value)
  return tonumber(value or '0') or error(name .. " of " .. run_key(run) .. " is no number: '" .. value .. "'", 0)
end

-- Forgets what is known of a host if it is no hash; it is learnt anew. Returns whether it was.
local function forget_if_damaged(host)
  local found = redis.pcall('HLEN', host_key(host))
  if type(found) == 'number' or not string.find(found.err, '^WRONGTYPE') then return false end
  redis.call('UNLINK', host_key(host))
  return true
end
