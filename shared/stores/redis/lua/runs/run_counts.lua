#!lua flags=no-writes,allow-oom
-- Counts the runs.
-- ARGV   prefix, time
-- Result {runs known, runs that have not ended}
-- Reads only, both sizes at one moment: a run opened between two separate reads would look as if it had ended.

return {redis.call('ZCARD', P .. 'runs'), redis.call('ZCARD', P .. 'runs:open')}
