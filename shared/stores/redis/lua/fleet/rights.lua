#!lua flags=no-writes,allow-oom
-- Which commands may the user of this connection not run on the fleet's keys?
-- ARGV   prefix, command…, time
-- Result the commands that it may not run
-- Reads and writes nothing. Servers that are compatible with Redis may not have the function that tells: they are taken at their word.

local lacking = {}
if not redis.acl_check_cmd then return lacking end
for i = 2, #ARGV - 1 do
  if not redis.acl_check_cmd(ARGV[i], P .. 'runs') then lacking[#lacking + 1] = ARGV[i] end
end
return lacking
