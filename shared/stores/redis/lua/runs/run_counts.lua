#!lua flags=no-writes,allow-oom
-- How many runs there are.
-- ARGV   prefix, time
-- Result {runs known, runs that have not ended}
-- Reads only: two sizes that Redis keeps. At one moment: a run that is opened between two reads would look as if it had ended.

return {redis.call('ZCARD', P .. 'runs'), redis.call('ZCARD', P .. 'runs:open')}
