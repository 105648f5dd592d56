#!lua flags=no-writes,allow-oom
-- Is a URL taken, according to the marks that runs share?
-- ARGV   prefix, mark, time
-- Result 1 or 0
-- Reads only.

return has_mark(shared_marks(), ARGV[2])
