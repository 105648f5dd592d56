#!lua flags=allow-oom
-- Applies a delivery's outcome.
-- ARGV   prefix, run, release, the task's mark, the settlement (JSON), most URLs whose attempts are noted, time
--        The settlement has the fields of `Settlement` in `ports/frontier/frontier.ts`, but for two texts: `attempt` is JSON, as it is
--        noted, and `moved` has the task's host and form
-- Result 'settled', or 'put_back' when the page was done but some of its links were lost, or 'already' when the ledger
--        doesn't hold this release of this task
-- Needs  host_pace.lua, troubles.lua, groups.lua
-- Atomic: the first settle of a release wins; run twice, the second changes nothing.

local run, release, mark, told, most_noted = ARGV[2], ARGV[3], ARGV[4], cjson.decode(ARGV[5]), tonumber(ARGV[6])
local outcome, reason, delay = told.outcome.kind, told.outcome.reason or '', told.outcome.inMs or 0
local pause, refused, left_out, note, page = told.outcome.host, told.refused, told.leftOut or {}, told.attempt, told.page

local entry = entry_of(run, release, mark)
if not entry then return 'already' end
local key, task, is_admitted = run_key(run), read_flight(entry), string.find(entry, '^working:')
leave_ledger(run, release)

-- Some of the links that it offered were lost: see LinkTally of `ports/frontier/frontier.ts`.
local is_lacking = false
if outcome == 'done' and told.tally then
  local stamp, links = string.match(entry, '^[^ /]+/([^ /]+)/(%d+) ')
  is_lacking = (stamp == told.tally.stamp and tonumber(links) or 0) < told.tally.links
  if is_lacking then outcome = 'defer' end
end

-- Counts a failed page by the place of the crawler where its step failed, in `run:<run>:places`: place -> '<pages> <first error>'.
local function count_step_failure(place, text)
  local places = run_key(run, 'places')
  local known = redis.call('HGET', places, place)
  local pages, first = string.match(known or '', '^(%d+) (.*)$')
  if not known and redis.call('HLEN', places) >= MOST_STEP_FAILURES then return end
  redis.call('HSET', places, place, int((tonumber(pages) or 0) + 1) .. ' ' .. (first or text))
end

local function own_interval() return as_number(redis.call('HGET', key, 'interval_ms')) end

if told.moved then
  -- The host that the task waited for has answered, with a redirect.
  note_answer(run, task.host)
  if told.moved.host ~= task.host then
    redis.call('HDEL', run_key(run, 'trouble'), task.host)
    hear_of(task.host, own_interval, '', '', true)
  end
  task.host = told.moved.host
  task.rest = string.match(task.rest, '^[^\t]*\t[^\t]*\t') .. told.moved.form
end

local is_silent, trouble = false, told.hostTrouble or {kind = 'answered', reason = ''}
if told.hostAnswered then
  note_answer(run, task.host)
  redis.call('HDEL', run_key(run, 'trouble'), task.host)
elseif told.hostAnswered == false then
  is_silent = note_trouble(run, task.host, trouble.kind, trouble.reason, told.hostSpoke)
elseif told.hostSpoke then
  note_answer(run, task.host)
end
if told.hostAnswered == nil or trouble.kind == 'outage' then
  drop_probe(task.host, run, release)
else
  hear_of(task.host, own_interval, told.hostFault or '', told.slowDown or '', told.hostAnswered, is_silent, task.attempts > 0)
end
-- All tasks of a silent host wait for the host, not each for its own next attempt.
if is_silent then delay = math.min(delay, SILENT_PAUSE_MS) end
if trouble.pauseMs and not is_silent then
  pause_host(task.host, math.min(trouble.pauseMs, RETRY_AFTER_CAP_MS), trouble.reason)
end

if note then
  redis.call('LPUSH', P .. 'attempts:' .. mark, note)
  redis.call('LTRIM', P .. 'attempts:' .. mark, 0, 9)
  redis.call('PEXPIRE', P .. 'attempts:' .. mark, DAY_MS)
  redis.call('ZADD', P .. 'noted', int(now), mark)
  redis.call('PEXPIRE', P .. 'noted', DAY_MS)
  for i, old in ipairs(redis.call('ZPOPMIN', P .. 'noted', math.max(0, redis.call('ZCARD', P .. 'noted') - most_noted))) do
    if i % 2 == 1 then redis.call('UNLINK', P .. 'attempts:' .. old, P .. 'failures:' .. old) end
  end
  if outcome == 'retry' or outcome == 'failed' then
    redis.call('INCR', P .. 'failures:' .. mark)
    redis.call('PEXPIRE', P .. 'failures:' .. mark, DAY_MS)
  end
end
if (told.bytes or 0) > 0 then redis.call('HINCRBY', key, 'bytes', told.bytes) end
if (left_out.depth or 0) > 0 then redis.call('HINCRBY', key, 'left_out:depth', left_out.depth) end
if (left_out.scope or 0) > 0 then redis.call('HINCRBY', key, 'left_out:scope', left_out.scope) end
-- No worker remembers which of these it has reported before, so they count only when the page ends.
if (left_out.condition or 0) > 0 and not is_lacking then
  redis.call('HINCRBY', key, 'left_out:condition', left_out.condition)
end

local is_over = outcome == 'done' or outcome == 'skipped' or outcome == 'failed'
if is_over and task.host ~= MALFORMED_HOST then count_steps(run, outcome, {mark}) end
if outcome == 'done' and told.claimed then take_claimed(run, marks_of(run), told.claimed) end
if outcome == 'done' or outcome == 'skipped' then
  redis.call('HINCRBY', key, outcome, 1)
  drop_claim(run, mark)
  if outcome == 'skipped' then redis.call('HINCRBY', key, 'skipped:' .. reason, 1) end
  if task.attempts > 0 then redis.call('UNLINK', P .. 'failures:' .. mark) end
  if page and not group_in(mark) then
    remember_page(marks_of(run), mark, page, now)
    if page.bytesSaved > 0 then redis.call('HINCRBY', key, 'bytes_saved', page.bytesSaved) end
  end
elseif outcome == 'failed' then
  count_failed(run, reason, {mark})
  if note and string.find(note, '"place":', 1, true) then
    local where = cjson.decode(note)
    if where.place then count_step_failure(where.place, where.error or '') end
  end
else
  local run_state = redis.call('HGET', key, 'state')
  if outcome == 'retry' or told.hostAnswered ~= nil then
    task.starts = 0
  elseif is_admitted then
    -- Put back before its page was asked for: this start doesn't show whether the task kills its worker.
    task.starts = math.max(0, task.starts - 1)
  end
  if pause or told.outcome.throttled then task.throttles = task.throttles + 1 end
  if (outcome == 'retry' or delay > 0) and run_state ~= 'cancelled' then
    if outcome == 'retry' then task.attempts = task.attempts + 1 end
    tell_forgetter({mark})
    local from = 0
    if refused then
      from = refused.leavesRoom and LEAVES_ROOM_FROM or NO_ROOM_FROM
      redis.call('HINCRBY', key, 'refused', 1)
      redis.call('HINCRBY', key, 'refused_bytes', refused.bytes)
    end
    redis.call('ZADD', run_key(run, 'putback'), int(from + now + delay), write_located(task))
    redis.call('HINCRBY', key, 'waiting', 1)
    wake_run(run, now + delay)
  else
    -- Did the host mean all pages or only this one? Other tasks will show.
    put_back(run, run_state, task, pause and not pause.pauseMs or task.throttles >= THROTTLES_BEFORE_TAIL)
  end
end

if is_over and task.host ~= MALFORMED_HOST then
  end_in_group(run, mark, outcome, reason, told.input, string.match(task.rest, '^[^\t]*\t(.*)$'), told.claimed or '')
end

if pause then
  pause_host(task.host, math.min(pause.pauseMs or throttle_pause_ms(task.host), RETRY_AFTER_CAP_MS), pause.reason)
end
local free_in = told.hostFreeInMs or 0
-- A paused host needs no postponing: release.lua knows when the pause ends, and when the host will have been in trouble for too long.
local is_paused = free_in > LEAD_MS and as_number(redis.call('HGET', host_key(task.host), 'paused_until')) > now
if free_in > LEAD_MS and not is_paused and redis.call('ZSCORE', run_key(run, 'ready'), task.host) then
  postpone_host(run, task.host, now + free_in - LEAD_MS)
end
finish_if_done(run)
return is_lacking and 'put_back' or 'settled'
