#!lua flags=allow-oom
-- The first thing done with a delivery: is it still wanted, may its host be asked now?
-- ARGV   prefix, run, release, worker, longest hold ms, most starts, time
-- Result '<verdict>', and for work, deadline and crash_loop ' <attempts> <starts> <throttles> <deadline> <first seen>
--        <ms that the host is still paused>'
-- Atomic. Run twice, the second takes the release over from the first and counts a start: harmless below the bound.

local run, release, hold, most_starts = ARGV[2], ARGV[3], tonumber(ARGV[5]), tonumber(ARGV[6])
local run_state, touched = unpack(redis.call('HMGET', run_key(run), 'state', 'touched'))
if not run_state then return 'unknown_run' end
local entry = redis.call('HGET', run_key(run, 'inflight'), release)
if not entry then return 'gone' end
if not touched then redis.call('HSET', run_key(run), 'touched', ARGV[4]) end

local task = read_flight(entry)
if run_state == 'cancelled' or run_state == 'paused' then
  leave_ledger(run, release)
  put_back(run, run_state, task)
  if run_state == 'paused' then return 'put_back' end
  finish_if_done(run)
  return 'cancelled'
end

local paused = tonumber(redis.call('HGET', host_key(task.host), 'paused_until') or '0')

local function answer(verdict)
  redis.call('HSET', run_key(run, 'inflight'), release,
    'working:' .. ARGV[4] .. ':' .. int(now) .. ' ' .. write_located(task))
  redis.call('ZADD', run_key(run, 'leases'), int(now + WORKING_MS), release)
  local state = string.match(task.rest, '^([^\t]*)')
  return verdict .. ' ' .. task.attempts .. ' ' .. task.starts .. ' ' .. task.throttles .. ' ' .. state .. ' '
    .. int(math.max(0, paused - now))
end

local deadline = deadline_of(task)
if deadline > 0 and deadline <= now then return answer('deadline') end
if paused > now + hold then
  leave_ledger(run, release)
  put_back(run, run_state, task)
  return 'put_back'
end
if task.starts >= most_starts then return answer('crash_loop') end
task.starts = task.starts + 1
return answer('work')
