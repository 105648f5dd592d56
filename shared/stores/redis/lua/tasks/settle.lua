#!lua flags=allow-oom
-- Applies a delivery's outcome.
-- ARGV   1 prefix, 2 run, 3 release, 4 the task's mark, 5 outcome, 6 reason or '', 7 delay ms,
--        8 pause of the host (ms | 'grow' | 'alone': only this task was throttled | ''), 9 pause reason,
--        10 the host's health (up | down | '-'), 11 its fault or '', 12 why to slow it or '', 13 bytes,
--        14 note for people (JSON or ''), 15 ms until the host is free, 16 host that redirects led to or '', 17 the task's form then,
--        18 what an incremental run remembers of the page (JSON or ''),
--        19 how many of its links were too deep, 20 out of scope, 21 refused by their step's condition,
--        22 the stamp of the admission that offered links or '', 23 how many links it offered,
--        24 '1' if the host or its robots.txt has answered, 25 why not healthily (answered | silent | outage | ''), 26 that reason for
--        people, 27 ms to pause a host that has answered before or 0, 28 what joins get of the page (JSON) or '',
--        29 the mark that redirects have led it to claim or '', 30 bytes of its links that were refused for lack of memory or '',
--        31 '1' if such offers must leave room for others, 32 throttles before a task goes to the tail,
--        33 most URLs whose attempts are noted, then the time
-- Result 'settled', or 'put_back' when the page was done but some of its links were lost, or 'already' when the ledger
--        doesn't hold this release of this task
-- Needs  host_pace.lua, troubles.lua, groups.lua
-- Atomic: the first settle of a release wins; run twice, the second changes nothing.

local run, release, mark, outcome, reason = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local delay, pause, pause_reason, health = tonumber(ARGV[7]), ARGV[8], ARGV[9], ARGV[10]
local fault, slow_reason = ARGV[11], ARGV[12]
local bytes, note, free_in, throttles_until_back = tonumber(ARGV[13]), ARGV[14], tonumber(ARGV[15]), tonumber(ARGV[32])
local moved_to, moved_form = ARGV[16], ARGV[17]
local most_noted = tonumber(ARGV[33])
local input, claimed, refused_bytes, leaves_room = ARGV[28], ARGV[29], ARGV[30], ARGV[31] == '1'
local page = ARGV[18] ~= '' and cjson.decode(ARGV[18])
local too_deep, out_of_scope, unmet = tonumber(ARGV[19]), tonumber(ARGV[20]), tonumber(ARGV[21])
local spoke, trouble_kind, trouble_reason, trouble_pause = ARGV[24] == '1', ARGV[25], ARGV[26], tonumber(ARGV[27])

local entry = entry_of(run, release, mark)
if not entry then return 'already' end
local key, task, is_admitted = run_key(run), read_flight(entry), string.find(entry, '^working:')
leave_ledger(run, release)

-- Some of the links that it offered were lost: see LinkTally of `ports/frontier/frontier.ts`.
local is_lacking = false
if outcome == 'done' and ARGV[22] ~= '' then
  local stamp, links = string.match(entry, '^[^ /]+/([^ /]+)/(%d+) ')
  is_lacking = stamp ~= ARGV[22] or tonumber(links) < tonumber(ARGV[23])
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

if moved_to ~= '' then
  -- The host that the task waited for has answered, with a redirect.
  note_answer(run, task.host)
  if moved_to ~= task.host then
    redis.call('HDEL', run_key(run, 'trouble'), task.host)
    hear_of(task.host, own_interval, '', '', true)
  end
  task.host = moved_to
  task.rest = string.match(task.rest, '^[^\t]*\t[^\t]*\t') .. moved_form
end

local is_silent = false
if health == 'up' then
  note_answer(run, task.host)
  redis.call('HDEL', run_key(run, 'trouble'), task.host)
elseif health == 'down' then
  is_silent = note_trouble(run, task.host, trouble_kind == '' and 'answered' or trouble_kind, trouble_reason, spoke)
elseif spoke then
  note_answer(run, task.host)
end
if health == '-' or trouble_kind == 'outage' then
  drop_probe(task.host, run, release)
else
  hear_of(task.host, own_interval, fault, slow_reason, health == 'up', is_silent, task.attempts > 0)
end
-- All tasks of a silent host wait for the host, not each for its own next attempt.
if is_silent then delay = math.min(delay, SILENT_PAUSE_MS) end
if trouble_pause > 0 and not is_silent then
  pause_host(task.host, math.min(trouble_pause, RETRY_AFTER_CAP_MS), trouble_reason)
end

if note ~= '' then
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
if bytes > 0 then redis.call('HINCRBY', key, 'bytes', bytes) end
if too_deep > 0 then redis.call('HINCRBY', key, 'left_out:depth', too_deep) end
if out_of_scope > 0 then redis.call('HINCRBY', key, 'left_out:scope', out_of_scope) end
-- No worker remembers which of these it has reported before, so they count only when the page ends.
if unmet > 0 and not is_lacking then redis.call('HINCRBY', key, 'left_out:condition', unmet) end

local is_over = outcome == 'done' or outcome == 'skipped' or outcome == 'failed'
if is_over and task.host ~= MALFORMED_HOST then count_steps(run, outcome, {mark}) end
if outcome == 'done' and claimed ~= '' then take_claimed(run, marks_of(run), claimed) end
if outcome == 'done' or outcome == 'skipped' then
  redis.call('HINCRBY', key, outcome, 1)
  drop_claim(run, mark)
  if outcome == 'skipped' then redis.call('HINCRBY', key, 'skipped:' .. reason, 1) end
  if task.attempts > 0 then redis.call('UNLINK', P .. 'failures:' .. mark) end
  if page and not string.find(mark, ' @%w+$') then
    remember_page(marks_of(run), mark, page, now)
    if page.bytesSaved > 0 then redis.call('HINCRBY', key, 'bytes_saved', page.bytesSaved) end
  end
elseif outcome == 'failed' then
  count_failed(run, reason, {mark})
  if string.find(note, '"place":', 1, true) then
    local where = cjson.decode(note)
    if where.place then count_step_failure(where.place, where.error or '') end
  end
else
  local run_state = redis.call('HGET', key, 'state')
  if outcome == 'retry' or health ~= '-' then
    task.starts = 0
  elseif is_admitted then
    -- Put back before its page was asked for: this start doesn't show whether the task kills its worker.
    task.starts = math.max(0, task.starts - 1)
  end
  if (outcome == 'retry' or delay > 0) and run_state ~= 'cancelled' then
    if outcome == 'retry' then task.attempts = task.attempts + 1 end
    if pause == 'alone' then task.throttles = task.throttles + 1 end
    tell_forgetter({mark})
    local from = 0
    if refused_bytes ~= '' then
      from = leaves_room and LEAVES_ROOM_FROM or NO_ROOM_FROM
      redis.call('HINCRBY', key, 'refused', 1)
      redis.call('HINCRBY', key, 'refused_bytes', refused_bytes)
    end
    redis.call('ZADD', run_key(run, 'putback'), int(from + now + delay), write_located(task))
    redis.call('HINCRBY', key, 'waiting', 1)
    wake_run(run, now + delay)
  else
    if pause ~= '' then task.throttles = task.throttles + 1 end
    -- Did the host mean all pages or only this one? Other tasks will show.
    put_back(run, run_state, task, pause == 'grow' or task.throttles >= throttles_until_back)
  end
end

if is_over and task.host ~= MALFORMED_HOST then
  end_in_group(run, mark, outcome, reason, input, string.match(task.rest, '^[^\t]*\t(.*)$'), claimed)
end

if pause ~= '' and pause ~= 'alone' then
  local ms = pause == 'grow' and throttle_pause_ms(task.host) or tonumber(pause)
  pause_host(task.host, math.min(ms, RETRY_AFTER_CAP_MS), pause_reason)
end
-- A paused host needs no postponing: release.lua knows when the pause ends, and when the host will have been in trouble for too long.
local is_paused = free_in > LEAD_MS and as_number(redis.call('HGET', host_key(task.host), 'paused_until')) > now
if free_in > LEAD_MS and not is_paused and redis.call('ZSCORE', run_key(run, 'ready'), task.host) then
  postpone_host(run, task.host, now + free_in - LEAD_MS)
end
finish_if_done(run)
return is_lacking and 'put_back' or 'settled'
