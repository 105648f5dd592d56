#!lua flags=no-writes,allow-oom
-- Which commands may the user of this connection not run on the fleet's keys?
-- ARGV   prefix, command…, time
-- Result the commands that it may not run
-- Reads and writes nothing.

local lacking = {}
for i = 2, #ARGV - 1 do
  if not redis.acl_check_cmd(ARGV[i], P .. 'runs') then lacking[#lacking + 1] = ARGV[i] end
end
return lacking
