#!lua
-- Takes tasks that a run doesn't know yet.
-- ARGV   prefix, run, parent release or '', 1 for a repeat, then per task
--        '<host> <queue> <deadline in ms or 0>' TAB mark TAB payload, then the time
-- Result {accepted, known}, or {'refused', 'run' | 'parent'}
-- Atomic: mark, waiting entry and counters come together. Run twice, the second finds everything known. Without
--         allow-oom: a full Redis refuses new work, while all that drains it goes on.

local run, parent, is_repeat = ARGV[2], ARGV[3], ARGV[4] == '1'
local state = redis.call('HGET', run_key(run), 'state')
if state ~= 'running' and state ~= 'paused' then return {'refused', 'run'} end
if parent ~= '' and redis.call('HEXISTS', run_key(run, 'inflight'), parent) == 0 then return {'refused', 'parent'} end

local marks, failed = marks_of(run), run_key(run, 'failed')
local some_failed = redis.call('EXISTS', failed) == 1
local lists, hosts, accepted, known = {}, {}, 0, 0

for i = 5, #ARGV - 1 do
  local host, queue, deadline, mark, payload = string.match(ARGV[i], '^(%S+) (%a+) (%d+)\t([^\t]*)\t(.*)$')
  if (some_failed and redis.call('SISMEMBER', failed, mark) == 1) or add_mark(marks, mark) == 0 then
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
return {accepted, known}
