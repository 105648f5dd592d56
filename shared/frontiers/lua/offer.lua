#!lua
-- Takes tasks that a run doesn't know yet.
-- ARGV   prefix, run, parent release or '', 1 for a repeat, tasks that the run may have or '', then per task
--        '<host> <queue> <deadline in ms or 0>[ <changed at>]' TAB mark TAB payload, then the time
-- Result {accepted, known, beyond what it may have}, or {'refused', 'run' | 'parent'}
-- Atomic: mark, waiting entry and counters come together. Run twice, the second finds everything known. Without
--         allow-oom: a full Redis refuses new work, while all that drains it goes on.

local run, parent, is_repeat = ARGV[2], ARGV[3], ARGV[4] == '1'
local state, discovered, after = unpack(redis.call('HMGET', run_key(run), 'state', 'discovered', 'recrawl_after_ms'))
if state ~= 'running' and state ~= 'paused' then return {'refused', 'run'} end
if parent ~= '' and redis.call('HEXISTS', run_key(run, 'inflight'), parent) == 0 then return {'refused', 'parent'} end

local marks, failed = marks_of(run), run_key(run, 'failed')
local some_failed = redis.call('EXISTS', failed) == 1
local room = ARGV[5] == '' and math.huge or tonumber(ARGV[5]) - tonumber(discovered or '0')
local lists, hosts, accepted, known, beyond = {}, {}, 0, 0, 0
after = tonumber(after)

-- 'known', 'beyond' what it may have, or 'taken'.
local function take(host, mark, changed_at)
  if some_failed and redis.call('SISMEMBER', failed, mark) == 1 then return 'known' end
  local goes_by_changes = after and host ~= '?'
  if accepted >= room then
    if goes_by_changes then
      return is_due_now(run, marks, mark, tonumber(changed_at), after, now) and 'beyond' or 'known'
    end
    return has_mark(marks, mark) == 1 and 'known' or 'beyond'
  end
  if not goes_by_changes then return add_mark(marks, mark) == 1 and 'taken' or 'known' end
  return take_when_due(run, marks, mark, tonumber(changed_at), after, now) and 'taken' or 'known'
end

for i = 6, #ARGV - 1 do
  local host, queue, deadline, changed_at, mark, payload =
    string.match(ARGV[i], '^(%S+) (%a+) (%d+) ?(%d*)\t([^\t]*)\t(.*)$')
  local answer = take(host, mark, changed_at)
  if answer == 'beyond' then
    beyond = beyond + 1
  elseif answer == 'known' then
    known = known + 1
  else
    if deadline ~= '0' then deadline = int(now + tonumber(deadline)) end
    local key = list_key(run, queue, host)
    local list = lists[key]
    if not list then
      list = {}
      lists[key] = list
      hosts[host] = true
    end
    list[#list + 1] = '0 0 0 ' .. deadline .. ' ' .. int(now) .. '\t' .. mark .. '\t' .. payload
    accepted = accepted + 1
  end
end

keep_marks(marks)
for key, list in pairs(lists) do redis.call('RPUSH', key, unpack(list)) end
for host in pairs(hosts) do wake_host(run, host) end
if accepted > 0 then
  redis.call('HINCRBY', run_key(run), 'discovered', accepted)
  redis.call('HINCRBY', run_key(run), 'waiting', accepted)
end
if known > 0 and not is_repeat then redis.call('HINCRBY', run_key(run), 'duplicate', known) end
return {accepted, known, beyond}
