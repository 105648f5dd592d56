-- Shared by every script: names of keys, the time, entries, and the moves that more than one script makes.
--
-- A task is kept as one string, its parts divided by tabs:
--   waiting    <attempts> <starts> <throttles> <deadline> <first seen>        TAB mark TAB payload
--              and, where redirects have led it to another host, TAB and these as JSON
--   put back   <host> <queue> and the above
--   in flight  <publishing | queued | working:<worker>:<since>> and the above; `working` alone: handed over, not begun
-- Times are epoch milliseconds, 0 for none. The payload is opaque here: cjson would turn [] into {} and round big numbers.
-- ARGV[1] is the key prefix. The last argument is '-', or a time in epoch milliseconds that the contract suite steps: with
-- the server's own clock, two stores could not be asked the same at the same moment.

local P = ARGV[1]
local now = tonumber(ARGV[#ARGV])
if not now then
  local clock = redis.call('TIME')
  now = clock[1] * 1000 + math.floor(clock[2] / 1000)
end

local PUBLISHING_MS = 60000
local WORKING_MS = 60000
local LONGEST_PAUSE_MS = 3600000
local LONGEST_HOLD_MS = 31536000000 -- a pause by hand, which lasts until it is ended
local LEAD_MS = 1000 -- a task is released at most so long before its slot

local function int(number)
  return string.format('%.0f', number)
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

local function read_flight(entry)
  local state, host, queue, attempts, starts, throttles, rest =
    string.match(entry, '^(%a+)%S* (%S+) (%a+) (%d+) (%d+) (%d+) (.*)$')
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

local function mark_of(task)
  return string.match(task.rest, '^[^\t]*\t([^\t]*)\t')
end

-- Lets release look at a run no later than `at`.
local function wake_run(run, at)
  redis.call('ZADD', P .. 'ready', 'LT', int(at), run)
end

-- Lets release look at a host that has something waiting. One that has a time already keeps it.
local function wake_host(run, host)
  if redis.call('ZADD', run_key(run, 'ready'), 'NX', int(now), host) == 1 then wake_run(run, now) end
end

-- Nothing of the host is released in this run before `at`.
local function postpone_host(run, host, at)
  redis.call('ZADD', run_key(run, 'ready'), int(at), host)
  wake_run(run, at)
end

local function leave_ledger(run, release)
  redis.call('HDEL', run_key(run, 'inflight'), release)
  redis.call('ZREM', run_key(run, 'leases'), release)
end

-- A task's claim is over: it keeps what it claimed, or the caller takes that away. Returns the claimed mark, if any.
local function drop_claim(run, own)
  local claimed = redis.call('HGET', run_key(run, 'claims'), '>' .. own)
  if claimed then redis.call('HDEL', run_key(run, 'claims'), '<' .. claimed, '>' .. own) end
  return claimed
end

-- A task's claim is over, and what it claimed is free again.
local function free_claim(run, marks, own)
  local claimed = drop_claim(run, own)
  if not claimed then return end
  remove_marks(marks, {claimed})
  redis.call('SREM', run_key(run, 'taken'), claimed)
end

-- The marks of cancelled tasks go, and with them what these have claimed; those of pages that were crawled before stay.
local function free_marks(run, list)
  local marks = marks_of(run)
  if redis.call('EXISTS', run_key(run, 'claims')) == 1 then
    for _, own in ipairs(list) do free_claim(run, marks, own) end
  end
  local gone = without_retaken(run, list)
  if #gone > 0 then remove_marks(marks, gone) end
  keep_marks(marks)
end

local function count_cancelled(run, task)
  free_marks(run, {mark_of(task)})
  redis.call('HINCRBY', run_key(run), 'cancelled', 1)
end

-- Back to its host's list: at the head, since it was its turn, or at the tail.
local function put_back(run, run_state, task, at_tail)
  if run_state == 'cancelled' then return count_cancelled(run, task) end
  redis.call(at_tail and 'RPUSH' or 'LPUSH', list_key(run, task.queue, task.host), write_waiting(task))
  redis.call('HINCRBY', run_key(run), 'waiting', 1)
  wake_host(run, task.host)
end

-- Keeps what is known of a host for at least so long: never less, or a pause would be forgotten with the rest.
local function keep_host(host, ms)
  if redis.call('PTTL', host_key(host)) < ms then redis.call('PEXPIRE', host_key(host), int(ms)) end
end

-- Quiets a host. A longer pause stands.
local function pause_host(host, ms, reason)
  local key = host_key(host)
  local till = now + ms
  local paused = tonumber(redis.call('HGET', key, 'paused_until') or '0')
  if paused >= till then return end
  redis.call('HSET', key, 'paused_until', int(till), 'reason', reason)
  keep_host(host, till - now + 600000)
  redis.call('ZREMRANGEBYSCORE', P .. 'paused', '-inf', int(now))
  redis.call('ZADD', P .. 'paused', int(till), host)
end

-- The one place where a run ends: nothing waits, nothing is in flight, and no seeds can come or matter any more.
local function finish_if_done(run)
  if redis.call('HLEN', run_key(run, 'inflight')) > 0 then return end
  local key = run_key(run)
  local state, waiting, completed, ended = unpack(redis.call('HMGET', key, 'state', 'waiting', 'completed', 'ended_at'))
  if not state or ended or tonumber(waiting or '0') > 0 then return end
  if state ~= 'cancelled' then
    if tonumber(completed or '0') == 0 or redis.call('ZCARD', run_key(run, 'producers')) > 0 then return end
    redis.call('HSET', key, 'state', 'finished')
  end
  redis.call('HSET', key, 'ended_at', int(now))
  redis.call('ZREM', P .. 'runs:open', run)
  redis.call('ZREM', P .. 'ready', run)
  redis.call('ZADD', P .. 'runs:ended', int(now), run)
end
