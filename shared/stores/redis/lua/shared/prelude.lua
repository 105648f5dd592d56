-- Shared by every script: names of keys, the time, entries, and the moves that more than one script makes. Names in capitals
-- that no script defines are limits, leases and paces: numbers.ts replaces them by their values.
--
-- A task is kept as one string, its parts separated by tabs:
--   waiting    <attempts> <starts> <throttles> <deadline> <first seen>        TAB mark TAB form
--   put back   <host> <queue>, then as waiting
--   in flight  <publishing | queued | working:<worker>:<since>>[/<stamp>/<links>], then as put back. `working` alone: handed over,
--              not begun. Stamp and links: how many links the page's admission has offered, see LinkTally of `ports/frontier/frontier.ts`
-- Times are epoch milliseconds, 0 for none. The form is written by `task/task/form.ts` and opaque here: cjson would turn [] into
-- {} and round big numbers. A text that isn't a URL has the reason in place of a form.
-- ARGV[1] is the key prefix. The last argument is '-' for the server's time, or a time in epoch milliseconds. The contract suite steps
-- time that way: by the server's own clock, it could not ask two stores the same thing at the same moment.
--
-- `now` never goes back. If the server's clock is set back, scores and leases would lie in the future for that long, so `now`
-- continues from where it was, a tenth slower than the clock, until the clock has caught up: durations may get longer, never
-- shorter. The key `clock` holds '<server time> <how far `now` was ahead of it>', written by keep_time.lua. If Redis loses it,
-- everything timed by it is lost too.

local P = ARGV[1]
local clock = tonumber(ARGV[#ARGV])
if not clock then
  local time = redis.call('TIME')
  clock = time[1] * 1000 + math.floor(time[2] / 1000)
end
local seen, ahead = string.match(redis.call('GET', P .. 'clock') or '', '^(%d+) (%d+)$')
seen, ahead = tonumber(seen or '0'), tonumber(ahead or '0')
if clock < seen then ahead = ahead + seen - clock else ahead = math.max(0, ahead - math.floor((clock - seen) / 10)) end
local now = clock + ahead

local function int(number)
  return string.format('%.0f', number)
end

-- Returns the two numbers of a host's field, or nothing. Every host that was asked has such a field: two fields would take 20 bytes more.
local function both_of(field)
  local first, second = string.match(field or '', '^([%d.]+) ([%d.]+)$')
  return tonumber(first), tonumber(second)
end

local function run_key(run, suffix)
  if suffix then return P .. 'run:' .. run .. ':' .. suffix end
  return P .. 'run:' .. run
end

local function list_key(run, queue, host)
  return P .. 'run:' .. run .. (queue == 'priority' and ':wait!:' or ':wait:') .. host
end

local function host_key(host)
  return P .. 'ratelimit:' .. host
end

-- Returns the waiting form for an entry that can't be read, perhaps one of another program. It is released as malformed, from the pseudo
-- host of malformed URLs, under its mark or else its own text. So it ends, is reported, and holds up no other.
local function unreadable(entry)
  local mark = string.match(entry, '^[^\t]*\t([^\t]*)\t') or string.sub(string.gsub(entry, '%c+', ' '), 1, MAX_MALFORMED_MARK_LENGTH)
  return '0 0 0 0 ' .. int(now) .. '\t' .. mark .. "\tits entry in the frontier can't be read"
end

local read_flight
function read_flight(entry)
  local state, host, queue, attempts, starts, throttles, rest =
    string.match(entry, '^(%a+)%S* (%S+) (%a+) (%d+) (%d+) (%d+) (.*)$')
  if not state then return read_flight('unreadable ' .. MALFORMED_HOST .. ' normal ' .. unreadable(entry)) end
  return {
    state = state, host = host, queue = queue, rest = rest,
    attempts = tonumber(attempts), starts = tonumber(starts), throttles = tonumber(throttles),
  }
end

local function write_waiting(task)
  return task.attempts .. ' ' .. task.starts .. ' ' .. task.throttles .. ' ' .. task.rest
end

local function write_located(task)
  return task.host .. ' ' .. task.queue .. ' ' .. write_waiting(task)
end

local function deadline_of(task)
  return tonumber(string.match(task.rest, '^(%d+)'))
end

-- Returns the mark of an entry in any of its forms, or of the part after its numbers.
local function mark_in(text)
  return string.match(text, '^[^\t]*\t([^\t]*)\t')
end

local function mark_of(task)
  return mark_in(task.rest)
end

-- Returns the ledger's entry of a release if it has this mark. The number alone is not enough: a store that lost its last writes, and
-- its clock with them, may reuse numbers while messages from their first use are still around.
local function entry_of(run, release, mark)
  local entry = redis.call('HGET', run_key(run, 'inflight'), release)
  return entry and mark_in(entry) == mark and entry
end

-- Does the same for the arguments (release, its mark)… starting at `from`. Returns those that the ledger holds, each once.
local function entries_of(run, from)
  local releases, held, is_read = {}, {}, {}
  for i = from, #ARGV - 2, 2 do releases[#releases + 1] = ARGV[i] end
  if #releases == 0 then return held end
  for n, entry in ipairs(redis.call('HMGET', run_key(run, 'inflight'), unpack(releases))) do
    local release, mark = releases[n], ARGV[from + 2 * n - 1]
    if entry and mark_in(entry) == mark and not is_read[release] then
      is_read[release] = true
      held[#held + 1] = {release = release, mark = mark, entry = entry}
    end
  end
  return held
end

-- Lets release look at a run no later than `at`.
local function wake_run(run, at)
  redis.call('ZADD', P .. 'ready', 'LT', int(at), run)
end

-- Lets release look at a host that has something waiting. A host that already has a time keeps it.
local function wake_host(run, host)
  if redis.call('ZADD', run_key(run, 'ready'), 'NX', int(now), host) == 1 then wake_run(run, now) end
end

-- Lets release look at a host at once, in every open run.
local function wake_everywhere(host)
  for _, run in ipairs(redis.call('ZRANGE', P .. 'runs:open', 0, -1)) do
    if redis.call('ZADD', run_key(run, 'ready'), 'XX', 'LT', 'CH', int(now), host) == 1 then wake_run(run, now) end
  end
end

-- Lets release look at a host in this run no earlier than `at`.
local function postpone_host(run, host, at)
  redis.call('ZADD', run_key(run, 'ready'), int(at), host)
  wake_run(run, at)
end

-- Writes entries of the ledger (release, entry, …) and their leases (end, release, …). Returns how many.
local function write_ledger(run, flights, leases)
  if #flights == 0 then return 0 end
  redis.call('HSET', run_key(run, 'inflight'), unpack(flights))
  redis.call('ZADD', run_key(run, 'leases'), unpack(leases))
  return #flights / 2
end

local function leave_ledger(run, ...)
  redis.call('HDEL', run_key(run, 'inflight'), ...)
  redis.call('ZREM', run_key(run, 'leases'), ...)
end

-- Counts tasks by the step that their marks carry, in `run:<run>:steps`, a HASH of `<state> <step>`. Most runs have no steps. Not for
-- texts that aren't URLs (host `?`): their marks carry no step, even if they look as if they did.
local function count_steps(run, state, list)
  local counts = {}
  for _, mark in ipairs(list) do
    local step = string.match(mark, '^(%S+) ')
    if step then counts[step] = (counts[step] or 0) + 1 end
  end
  for step, count in pairs(counts) do
    local key, field = run_key(run, 'steps'), state .. ' ' .. step
    if redis.call('HINCRBY', key, field, count) == count and redis.call('HLEN', key) > MOST_STEP_COUNTS then
      redis.call('HDEL', key, field)
    end
  end
end

local function group_key(run, group)
  return run_key(run, 'group:' .. group)
end

-- Returns the set that a mark belongs to: its group's if it carries a group, else `marks`.
local function marks_for(run, marks, mark)
  local group = group_in(mark)
  return group and {group = group_key(run, group)} or marks
end

-- Takes the mark of the page that redirects have led a task to. An incremental run won't take it again because of its age.
local function take_claimed(run, marks, mark)
  local own = marks_for(run, marks, mark)
  if add_mark(own, mark) == 1 and not own.group and recrawl_after(run) then note_own_mark(run, marks, mark) end
  keep_marks(marks)
end

-- Ends a task's claim: the claimed mark stays taken unless the caller drops it. Returns that mark, if any.
local function drop_claim(run, own)
  local claimed = redis.call('HGET', run_key(run, 'claims'), '>' .. own)
  if claimed then redis.call('HDEL', run_key(run, 'claims'), '<' .. claimed, '>' .. own) end
  return claimed
end

-- Ends a task's claim, and frees the claimed mark.
local function free_claim(run, marks, own)
  local claimed = drop_claim(run, own)
  if not claimed then return end
  remove_marks(marks_for(run, marks, claimed), {claimed})
  redis.call('SREM', run_key(run, 'taken'), claimed)
end

-- Returns the plan of a run's joins, or false if it has none. See `task/group/plan.ts`.
local plans = {}
local function plan_of(run)
  if plans[run] == nil then
    local text = redis.call('HGET', run_key(run), 'plan')
    plans[run] = text and cjson.decode(text) or false
  end
  return plans[run]
end

-- Returns the name of the group that this mark's task owns, as `task/group/group.ts` does.
local function group_of(mark)
  return string.sub(redis.sha1hex(mark), 1, GROUP_LENGTH)
end

-- Defined by groups.lua, in the scripts that end tasks.
local end_in_group

-- Makes joins: waiting tasks, each with the text of its group's owner in place of a form.
local function make_joins(run, plan, names, group, owner)
  local entries, made = {}, {}
  for i, name in ipairs(names) do
    local deadline = tonumber(plan.joins[name].deadlineMs)
    made[i] = name .. ' @' .. group
    entries[i] = '0 0 0 ' .. (deadline and int(now + deadline) or '0') .. ' ' .. int(now) .. '\t' .. made[i] .. '\t' .. (owner or '')
  end
  redis.call('RPUSH', list_key(run, 'normal', JOIN_HOST), unpack(entries))
  for _, counter in ipairs({'discovered', 'waiting', 'joins'}) do redis.call('HINCRBY', run_key(run), counter, #made) end
  count_steps(run, 'discovered', made)
  wake_host(run, JOIN_HOST)
end

-- Nothing waits or is in flight: makes the run's joins that are due. Returns whether there were any.
local function make_run_joins(run)
  local plan = plan_of(run)
  if not plan or #plan.run == 0 then return false end
  local due, layer = unpack(redis.call('HMGET', run_key(run), 'joins_due', 'joins_layer'))
  local next = due and 1 or tonumber(layer or '0') + 1
  if not plan.run[next] or not (due or layer) then return false end
  redis.call('HDEL', run_key(run), 'joins_due')
  redis.call('HSET', run_key(run), 'joins_layer', next)
  make_joins(run, plan, plan.run[next], OF_RUN)
  return true
end

-- Drops the marks of cancelled tasks, and the marks that they claimed. Marks of pages that were crawled before stay.
local function free_marks(run, list)
  local marks = marks_of(run)
  if redis.call('EXISTS', run_key(run, 'claims')) == 1 then
    for _, own in ipairs(list) do free_claim(run, marks, own) end
  end
  -- Marks in a group are deleted with the group.
  local plain = {}
  for _, mark in ipairs(list) do
    if not group_in(mark) then plain[#plain + 1] = mark end
  end
  local gone = without_retaken(run, plain)
  if #gone > 0 then remove_marks(marks, gone) end
  keep_marks(marks)
end

local function count_cancelled(run, task)
  local mark = mark_of(task)
  free_marks(run, {mark})
  redis.call('HINCRBY', run_key(run), 'cancelled', 1)
  if task.host ~= MALFORMED_HOST then end_in_group(run, mark, 'cancelled') end
end

-- Counts failed tasks. A later run may try them again, this one won't. A malformed text stays known for ever.
local function count_failed(run, reason, list)
  redis.call('HINCRBY', run_key(run), 'failed', #list)
  redis.call('HINCRBY', run_key(run), 'failed:' .. reason, #list)
  local marks, is_malformed = marks_of(run), reason == 'malformed'
  local has_claims = redis.call('EXISTS', run_key(run, 'claims')) == 1
  local shares_pages = not marks.run and recrawl_after(run)
  local removed = {}
  for _, mark in ipairs(list) do
    if has_claims then free_claim(run, marks, mark) end
    -- A mark in a group stays known, and so does one whose text or message can't be read.
    local stays = is_malformed or group_in(mark)
    if not stays and remove_marks(marks, {mark}) == 1 then removed[#removed + 1] = mark end
    if shares_pages and not is_malformed then redis.call('HDEL', page_key(mark), 'taken') end
  end
  if #removed > 0 then redis.call('SADD', run_key(run, 'failed'), unpack(removed)) end
  keep_marks(marks)
end

-- While marks are being forgotten (see forget.lua), records that tasks with these marks were added or put back: they may be in a place
-- that was searched before. Tasks that move forward, from retries to lists to ledger, are found without this: the search goes that way too.
local function tell_forgetter(list)
  if redis.call('EXISTS', P .. 'forgetting') == 1 then redis.call('SADD', P .. 'forgetting', unpack(list)) end
end

-- Puts a task back into its host's list: at the head, since it had its turn, or at the tail.
local function put_back(run, run_state, task, at_tail)
  if run_state == 'cancelled' then return count_cancelled(run, task) end
  tell_forgetter({mark_of(task)})
  redis.call(at_tail and 'RPUSH' or 'LPUSH', list_key(run, task.queue, task.host), write_waiting(task))
  redis.call('HINCRBY', run_key(run), 'waiting', 1)
  wake_host(run, task.host)
end

-- Keeps a host's record for at least this long. It never shortens that time, or a pause would be forgotten with the rest.
local function keep_host(host, ms)
  if redis.call('PTTL', host_key(host)) < ms then redis.call('PEXPIRE', host_key(host), int(ms)) end
end

-- Pauses a host. A longer pause stays.
local function pause_host(host, ms, reason)
  local key = host_key(host)
  local till = now + ms
  local paused = tonumber(redis.call('HGET', key, 'paused_until') or '0')
  if paused >= till then return end
  redis.call('HSET', key, 'paused_until', int(till), 'reason', reason)
  keep_host(host, till - now + HOST_KEPT_MS)
  redis.call('ZREMRANGEBYSCORE', P .. 'paused', '-inf', int(now))
  redis.call('ZADD', P .. 'paused', int(till), host)
end

-- Bounds the marks of ended runs, which are kept in case a run is joined again: only those of the last runs stay, up to a total. A run
-- whose marks are gone takes its pages again.
local function bound_kept_marks(run)
  if redis.call('EXISTS', run_key(run, 'seen'), run_key(run, 'taken')) == 0 then return end
  local kept, total, runs = P .. 'runs:marked', 0, 0
  redis.call('ZADD', kept, int(now), run)
  for _, other in ipairs(redis.call('ZRANGE', kept, 0, -1, 'REV')) do
    total = total + redis.call('SCARD', run_key(other, 'seen')) + redis.call('SCARD', run_key(other, 'taken'))
    runs = runs + 1
    if runs > MOST_KEPT_RUNS or (total > MOST_KEPT_MARKS and other ~= run) then
      redis.call('UNLINK', run_key(other, 'seen'), run_key(other, 'taken'))
      redis.call('ZREM', kept, other)
    end
  end
end

-- The one place where a run ends: nothing waits, nothing is in flight, and no seeds can come or matter any more.
local function finish_if_done(run)
  if redis.call('HLEN', run_key(run, 'inflight')) > 0 then return end
  local key = run_key(run)
  local state, waiting, completed, ended = unpack(redis.call('HMGET', key, 'state', 'waiting', 'completed', 'ended_at'))
  if not state or ended or tonumber(waiting or '0') > 0 then return end
  if state ~= 'cancelled' then
    if tonumber(completed or '0') == 0 or redis.call('ZCARD', run_key(run, 'producers')) > 0 then return end
    if make_run_joins(run) then return end
    redis.call('HSET', key, 'state', 'finished')
  end
  redis.call('HSET', key, 'ended_at', int(now))
  redis.call('ZREM', P .. 'runs:open', run)
  redis.call('ZREM', P .. 'ready', run)
  redis.call('ZADD', P .. 'runs:ended', int(now), run)
  bound_kept_marks(run)
end
