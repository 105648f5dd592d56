#!lua flags=allow-oom
-- Drops a mark that runs share.
-- ARGV   prefix, mark, time
-- Result 1, or 0 if it was not there
-- Atomic; run twice, the second drops nothing.

local marks = shared_marks()
local removed = remove_marks(marks, {ARGV[2]})
keep_marks(marks)
return removed
