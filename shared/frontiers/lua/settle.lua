#!lua flags=allow-oom
-- What a delivery came to.
-- ARGV   prefix, run, release, outcome, reason or '', delay ms, pause (ms | 'grow' | ''), pause reason, host's health
--        (up | down | '-'), its fault or '', why it is to be slowed or '', bytes, note for people (JSON or ''), ms until the
--        host is free, host that redirects led to or '', redirects or '', what an incremental run remembers of the page
--        (JSON or ''), throttles before a task goes to the tail, time
-- Result 'settled', or 'already' when the ledger doesn't hold this release
-- Needs  host.lua
-- Atomic: the first settle of a release wins; run twice, the second changes nothing.

local run, release, outcome, reason = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local delay, pause, pause_reason, health = tonumber(ARGV[6]), ARGV[7], ARGV[8], ARGV[9]
local fault, slow_reason = ARGV[10], ARGV[11]
local bytes, note, free_in, patience = tonumber(ARGV[12]), ARGV[13], tonumber(ARGV[14]), tonumber(ARGV[18])
local moved_to, redirects = ARGV[15], ARGV[16]
local page = ARGV[17] ~= '' and cjson.decode(ARGV[17])
local DAY_MS = '86400000'

local entry = redis.call('HGET', run_key(run, 'inflight'), release)
if not entry then return 'already' end
local key, task, is_admitted = run_key(run), read_flight(entry), string.find(entry, '^working:')
leave_ledger(run, release)
local function own_interval() return as_number(redis.call('HGET', key, 'interval_ms')) end

if moved_to ~= '' then
  -- The host that it waited at has answered, with a redirect.
  if moved_to ~= task.host then
    redis.call('HDEL', run_key(run, 'trouble'), task.host)
    hear_of(task.host, own_interval, '', '', true)
  end
  task.host = moved_to
  task.rest = string.match(task.rest, '^[^\t]*\t[^\t]*\t[^\t]*') .. '\t' .. redirects
end

if health == 'up' then
  redis.call('HDEL', run_key(run, 'trouble'), task.host)
elseif health == 'down' then
  local trouble = redis.call('HGET', run_key(run, 'trouble'), task.host)
  local since = trouble and string.match(trouble, '^(%d+)') or int(now)
  redis.call('HSET', run_key(run, 'trouble'), task.host, since .. ' ' .. int(now))
end
if health == '-' then
  drop_probe(task.host, run, release)
else
  hear_of(task.host, own_interval, fault, slow_reason, health == 'up')
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
  drop_claim(run, mark_of(task))
  if outcome == 'skipped' then redis.call('HINCRBY', key, 'skipped:' .. reason, 1) end
  if task.attempts > 0 then redis.call('UNLINK', P .. 'failures:' .. mark_of(task)) end
  if page then
    remember_page(marks_of(run), mark_of(task), page, now)
    if page.bytesSaved > 0 then redis.call('HINCRBY', key, 'bytes_saved', page.bytesSaved) end
  end
elseif outcome == 'failed' then
  redis.call('HINCRBY', key, 'failed', 1)
  redis.call('HINCRBY', key, 'failed:' .. reason, 1)
  -- A later run may try again; this one won't. What is no URL stays known for good.
  if reason ~= 'malformed' then
    local marks = marks_of(run)
    free_claim(run, marks, mark_of(task))
    if remove_marks(marks, {mark_of(task)}) == 1 then redis.call('SADD', run_key(run, 'failed'), mark_of(task)) end
    keep_marks(marks)
    if not marks.run and recrawl_after(run) then redis.call('HDEL', page_key(mark_of(task)), 'taken') end
  end
else
  local run_state = redis.call('HGET', key, 'state')
  if outcome == 'retry' or health ~= '-' then
    task.starts = 0
  elseif is_admitted then
    -- Put back before it was asked for: it has neither killed its worker nor been survived.
    task.starts = math.max(0, task.starts - 1)
  end
  if (outcome == 'retry' or delay > 0) and run_state ~= 'cancelled' then
    if outcome == 'retry' then task.attempts = task.attempts + 1 end
    redis.call('ZADD', run_key(run, 'putback'), int(now + delay), write_located(task))
    redis.call('HINCRBY', key, 'waiting', 1)
    wake_run(run, now + delay)
  else
    if pause ~= '' then task.throttles = task.throttles + 1 end
    put_back(run, run_state, task, task.throttles >= patience)
  end
end

if pause ~= '' then
  local ms = pause == 'grow' and throttle_pause_ms(task.host) or tonumber(pause)
  pause_host(task.host, math.min(ms, LONGEST_PAUSE_MS), pause_reason)
end
-- Of a pause release knows itself, and when the host will have been in trouble for too long.
local is_paused = free_in > LEAD_MS and as_number(redis.call('HGET', host_key(task.host), 'paused_until')) > now
if free_in > LEAD_MS and not is_paused and redis.call('ZSCORE', run_key(run, 'ready'), task.host) then
  postpone_host(run, task.host, now + free_in - LEAD_MS)
end
finish_if_done(run)
return 'settled'
