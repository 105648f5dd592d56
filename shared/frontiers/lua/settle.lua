#!lua flags=allow-oom
-- What a delivery came to.
-- ARGV   prefix, run, release, outcome, reason or '', delay ms, pause ms, pause reason, host's health (up | down | '-'),
--        bytes, note for people (JSON or ''), ms until the host is free, throttles before a task goes to the tail, time
-- Result 'settled', or 'already' when the ledger doesn't hold this release
-- Atomic: the first settle of a release wins; run twice, the second changes nothing.

local run, release, outcome, reason = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local delay, pause, pause_reason, health = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8], ARGV[9]
local bytes, note, free_in, patience = tonumber(ARGV[10]), ARGV[11], tonumber(ARGV[12]), tonumber(ARGV[13])
local DAY_MS = '86400000'

local entry = redis.call('HGET', run_key(run, 'inflight'), release)
if not entry then return 'already' end
local key, task = run_key(run), read_flight(entry)
leave_ledger(run, release)

if health == 'up' then
  redis.call('HDEL', run_key(run, 'trouble'), task.host)
elseif health == 'down' then
  local trouble = redis.call('HGET', run_key(run, 'trouble'), task.host)
  local since = trouble and string.match(trouble, '^(%d+)') or int(now)
  redis.call('HSET', run_key(run, 'trouble'), task.host, since .. ' ' .. int(now))
end

if note ~= '' then
  local mark = mark_of(task)
  redis.call('LPUSH', P .. 'attempts:' .. mark, note)
  redis.call('LTRIM', P .. 'attempts:' .. mark, 0, 9)
  redis.call('PEXPIRE', P .. 'attempts:' .. mark, DAY_MS)
  if outcome == 'retry' or outcome == 'failed' then
    redis.call('INCR', P .. 'failures:' .. mark)
    redis.call('PEXPIRE', P .. 'failures:' .. mark, DAY_MS)
  end
end
if bytes > 0 then redis.call('HINCRBY', key, 'bytes', bytes) end

if outcome == 'done' or outcome == 'skipped' then
  redis.call('HINCRBY', key, outcome, 1)
  if outcome == 'skipped' then redis.call('HINCRBY', key, 'skipped:' .. reason, 1) end
  if task.attempts > 0 then redis.call('UNLINK', P .. 'failures:' .. mark_of(task)) end
elseif outcome == 'failed' then
  redis.call('HINCRBY', key, 'failed', 1)
  redis.call('HINCRBY', key, 'failed:' .. reason, 1)
  -- A later run may try again; this one won't. What is no URL stays known for good.
  if reason ~= 'malformed' then
    local marks = marks_of(run)
    if remove_marks(marks, {mark_of(task)}) == 1 then redis.call('SADD', run_key(run, 'failed'), mark_of(task)) end
    keep_marks(marks)
  end
else
  local run_state = redis.call('HGET', key, 'state')
  task.starts = 0
  if (outcome == 'retry' or delay > 0) and run_state ~= 'cancelled' then
    if outcome == 'retry' then task.attempts = task.attempts + 1 end
    redis.call('ZADD', run_key(run, 'putback'), int(now + delay), write_located(task))
    redis.call('HINCRBY', key, 'waiting', 1)
    wake_run(run, now + delay)
  else
    if pause > 0 then task.throttles = task.throttles + 1 end
    put_back(run, run_state, task, task.throttles >= patience)
  end
end

if pause > 0 then pause_host(task.host, math.min(pause, LONGEST_PAUSE_MS), pause_reason) end
if free_in > LEAD_MS and redis.call('ZSCORE', run_key(run, 'ready'), task.host) then
  postpone_host(run, task.host, now + free_in - LEAD_MS)
end
finish_if_done(run)
return 'settled'
