#!lua flags=allow-oom
-- Agrees on the form of the marks that runs share: the wanted one if no URL is known yet, else the one in force.
-- ARGV   prefix, exact | compact, time
-- Result the form in force
-- Keeps no time: nothing here is timed, and a question should leave no key behind.
-- Atomic; may run any number of times.

return agree_on_marks(ARGV[2])
