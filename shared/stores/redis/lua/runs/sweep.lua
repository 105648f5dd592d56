#!lua flags=allow-oom
-- Forgets runs that ended long ago.
-- ARGV   prefix, retention ms, most runs, time
-- Result how many runs were forgotten
-- Atomic per run. UNLINK frees big sets outside the server's main thread.

local ended = redis.call('ZRANGEBYSCORE', P .. 'runs:ended', '-inf', int(now - tonumber(ARGV[2])), 'LIMIT', 0, ARGV[3])
for _, run in ipairs(ended) do
  redis.call('UNLINK', run_key(run), run_key(run, 'seen'), run_key(run, 'taken'), run_key(run, 'failed'), run_key(run, 'trouble'),
    run_key(run, 'producers'), run_key(run, 'inputs'), run_key(run, 'ready'), run_key(run, 'leases'), run_key(run, 'inflight'),
    run_key(run, 'putback'), run_key(run, 'claims'), run_key(run, 'hosts'), run_key(run, 'answered'), run_key(run, 'steps'),
    run_key(run, 'missing'), run_key(run, 'places'))
  redis.call('ZREM', P .. 'runs:ended', run)
  redis.call('ZREM', P .. 'runs:marked', run)
  redis.call('ZREM', P .. 'runs', run)
end
return #ended
