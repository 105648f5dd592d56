#!lua flags=no-writes,allow-oom
-- Checks which commands the user of this connection may run on the fleet's keys.
-- ARGV   prefix, command…, time
-- Result the commands that it may not run
-- Reads and writes nothing. Redis-compatible servers may lack the function that checks this; there, every command counts as allowed.

local MOST_ARGUMENTS = 4
local lacking = {}
if not redis.acl_check_cmd then return lacking end

-- May the user run this command? From Redis 8 on, the check needs as many arguments as the command takes, so this tries several numbers.
-- A command that the server doesn't know counts as allowed.
local function may_run(command)
  local call = {command, P .. 'runs'}
  for _ = 0, MOST_ARGUMENTS do
    local is_whole, may = pcall(redis.acl_check_cmd, unpack(call))
    if is_whole then return may end
    call[#call + 1] = '1'
  end
  return true
end

for i = 2, #ARGV - 1 do
  if not may_run(ARGV[i]) then lacking[#lacking + 1] = ARGV[i] end
end
return lacking
