#!lua flags=allow-oom
-- A task was handed to a worker that doesn't have its step.
-- ARGV   prefix, run, release, the task's mark, time
-- Result '<ms for which only such workers were handed tasks of the step> <attempts> <starts> <throttles> <deadline> <first seen>',
--        or '' if the ledger doesn't hold the release
-- Atomic; may run any number of times. `run:<id>:missing` holds '<since> <last time>' for each step; an admission deletes it.

local run, mark = ARGV[2], ARGV[4]
local entry = entry_of(run, ARGV[3], mark)
if not entry then return '' end
local task = read_flight(entry)
local step = string.match(mark, '^(%S+) ') or ''
local since, last = string.match(redis.call('HGET', run_key(run, 'missing'), step) or '', '^(%d+) (%d+)$')
since = tonumber(since)
if not last or now - tonumber(last) > MISSING_GAP_MS then since = now end
redis.call('HSET', run_key(run, 'missing'), step, int(since) .. ' ' .. int(now))
redis.call('PEXPIRE', run_key(run, 'missing'), 2 * MISSING_GAP_MS)
return int(now - since) .. ' ' .. task.attempts .. ' ' .. task.starts .. ' ' .. task.throttles .. ' '
  .. string.match(task.rest, '^([^\t]*)')
