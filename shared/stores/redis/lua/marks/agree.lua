#!lua flags=allow-oom
-- In which form the marks of all runs are kept: the one that is wanted, if no URL is known yet.
-- ARGV   prefix, exact | compact, time
-- Result the form in force
-- Keeps no time: it times nothing, and a command that only asks leaves nothing.
-- Atomic; may run any number of times.

return agree_on_marks(ARGV[2])
