-- Shared by release.lua: which waiting tasks are past their deadline.

-- Returns the deadline of a waiting entry, or nil if the entry can't be read.
local function deadline_in(entry)
  return tonumber(string.match(entry, '^%d+ %d+ %d+ (%d+) %d+\t[^\t]*\t'))
end

local function is_late(deadline)
  return deadline > 0 and deadline <= now
end

-- Counts the entries at the head of a list that are past their deadline, up to the first that is not; reads `most` at most.
local function late_at_head(key, most)
  local late = 0
  for _, entry in ipairs(redis.call('LRANGE', key, 0, most - 1)) do
    if not is_late(deadline_in(entry) or 0) then break end
    late = late + 1
  end
  return late
end
