#!lua flags=no-writes,allow-oom
-- Searches a part of its host's list for a task.
-- ARGV   prefix, run, queue, host, mark, last index (counted from the tail: -1 is the last), most entries, time
-- Result {entries searched}, and if the task was found: the entry, and how many are ahead of it
-- Reads only. A search from the tail to the head misses little: except for a breaker's probe, tasks leave the list at its head.

local key, needle = list_key(ARGV[2], ARGV[3], ARGV[4]), '\t' .. ARGV[5] .. '\t'
local last, most = tonumber(ARGV[6]), tonumber(ARGV[7])
local entries = redis.call('LRANGE', key, last - most + 1, last)
for i, entry in ipairs(entries) do
  if string.find(entry, needle, 1, true) then
    return {#entries, entry, redis.call('LLEN', key) + last - #entries + i}
  end
end
return {#entries}
