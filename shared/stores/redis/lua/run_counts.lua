#!lua flags=no-writes,allow-oom
-- How many runs there are.
-- ARGV   prefix, time
-- Result {runs known, runs that have not ended}
-- Reads only, two counts that Redis keeps; at one moment, or a run that opens between them would look ended.

return {redis.call('ZCARD', P .. 'runs'), redis.call('ZCARD', P .. 'runs:open')}
