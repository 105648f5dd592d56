#!lua flags=allow-oom
-- A worker's first step with a delivery: is it still wanted, and may its host be asked now?
-- ARGV   prefix, run, release, the task's mark, worker, longest slot wait ms, most starts, time
-- Result '<verdict>', and for work, deadline and crash_loop ' <attempts> <starts> <throttles> <deadline> <first seen>
--        <1 if the host answers others, or 0> <ms that the host is still paused> <the run's incarnation>'; for a page that an
--        incremental run knows, a list that begins with this text: {…, fetched at, etag, modified, content hash, bytes, read as,
--        claimed mark or ''}
-- Needs  host_pace.lua, groups.lua
-- Atomic. Run twice, the second takes the release over from the first and counts a start: harmless below the bound.

local run, release, longest_wait, most_starts = ARGV[2], ARGV[3], tonumber(ARGV[6]), tonumber(ARGV[7])
local run_state, touched, after, incarnation =
  unpack(redis.call('HMGET', run_key(run), 'state', 'touched', 'recrawl_after_ms', 'incarnation'))
if not run_state then return 'unknown_run' end
local entry = entry_of(run, release, ARGV[4])
if not entry then return 'gone' end
if not touched then redis.call('HSET', run_key(run), 'touched', ARGV[5]) end

local task = read_flight(entry)
local paused, opened, probe, probe_until, answered =
  unpack(redis.call('HMGET', host_key(task.host), 'paused_until', 'opened', 'probe', 'probe_until', 'answered'))
paused = as_number(paused)

-- Release numbers follow the clock, in microseconds. A delivery taken over from a dead worker is no sign of overload.
if not string.find(entry, '^working:') and now - tonumber(release) / 1000 > LATE_MS then
  redis.call('SET', P .. 'late', int(now), 'PX', 4 * WINDOW_EVERY_MS)
end

local function give_back()
  leave_ledger(run, release)
  put_back(run, run_state, task)
  if opened then drop_probe(task.host, run, release) end
end

if run_state == 'cancelled' or run_state == 'paused' then
  give_back()
  if run_state == 'paused' then return 'put_back' end
  finish_if_done(run)
  return 'cancelled'
end

local function answer(verdict)
  task.starts = task.starts + 1
  redis.call('HSET', run_key(run, 'inflight'), release,
    'working:' .. ARGV[5] .. ':' .. int(now) .. (string.match(entry, '^[^ /]+(/%S+)') or '') .. ' ' .. write_located(task))
  redis.call('ZADD', run_key(run, 'leases'), int(now + WORKING_MS), release)
  local state = string.match(task.rest, '^([^\t]*)')
  return verdict .. ' ' .. task.attempts .. ' ' .. task.starts .. ' ' .. task.throttles .. ' ' .. state .. ' '
    .. (answered and now < answered + ANSWERED_LATELY_MS and 1 or 0) .. ' '
    .. int(math.max(0, paused - now)) .. ' ' .. (incarnation or '')
end

local deadline = deadline_of(task)
if deadline > 0 and deadline <= now then return answer('deadline') end
if paused > now + longest_wait or is_tried_by_other(opened, probe, probe_until, run .. '|' .. release) then
  give_back()
  return 'put_back'
end
if task.starts >= most_starts then return answer('crash_loop') end
if opened then
  redis.call('HSET', host_key(task.host), 'probe', run .. '|' .. release, 'probe_until', int(now + PROBE_ADMITTED_MS))
end
redis.call('HDEL', run_key(run, 'missing'), string.match(ARGV[4], '^(%S+) ') or '')
local reply = answer('work')
local page = after and redis.call('HMGET', page_key(mark_of(task)), 'fetched_at', 'etag', 'modified', 'content_hash',
  'bytes', 'read_as', 'claimed')
return page and page[1] and {reply, unpack(page)} or reply
