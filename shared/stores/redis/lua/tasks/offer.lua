#!lua
-- Takes tasks that a run doesn't know yet.
-- ARGV   prefix, run, parent's release or '', its mark, 1 for a repeat, tasks that the run may have with links or '', the run's
--        incarnation or '' for any, the offer's id, hosts that each domain may have or '', tasks that the run may have at all or
--        '', the stamp of the parent's admission, links that it offered before, then for each task one argument, its parts
--        divided by tabs: host, queue, deadline in ms or 0, changed at or '',
--        domain if its hosts are counted or '', mark, form; then the time
-- Result {accepted, known, left out for their host, as links too many, as tasks too many}, or {'refused', 'run' | 'parent'}
--         A parent whose links from before are not all here is put back: they were lost, see LinkTally of `ports/frontier.ts`.
-- Atomic: mark, waiting entry and counters come together. Sent again within a minute, since its answer was lost, it changes
--         nothing and gets that answer: it would find everything known, and count it as duplicates. Without allow-oom: a full
--         Redis refuses new work, while all that drains it goes on.

local run, parent, is_repeat = ARGV[2], ARGV[3], ARGV[5] == '1'
local answered = P .. 'offer:' .. ARGV[8]
local answer_before = redis.call('GET', answered)
if answer_before then return cjson.decode(answer_before) end
local state, discovered, after, incarnation =
  unpack(redis.call('HMGET', run_key(run), 'state', 'discovered', 'recrawl_after_ms', 'incarnation'))
if state ~= 'running' and state ~= 'paused' then return {'refused', 'run'} end
if ARGV[7] ~= '' and ARGV[7] ~= incarnation then return {'refused', 'run'} end

-- The parent's entry with this offer counted, or none: it is stale, or links that it offered before are lost.
local function counted_parent()
  local entry = entry_of(run, parent, ARGV[4])
  if not entry then return nil end
  local phase, tally, rest = string.match(entry, '^([^ /]+)(%S*)( .*)$')
  local stamp, links = string.match(tally, '^/(.+)/(%d+)$')
  local held, before = stamp == ARGV[11] and tonumber(links) or 0, tonumber(ARGV[12])
  if held < before then
    local task = read_flight(entry)
    -- Its worker has survived it.
    task.starts = 0
    leave_ledger(run, parent)
    put_back(run, state, task)
    return nil
  end
  return phase .. '/' .. ARGV[11] .. '/' .. int(math.max(held, before + #ARGV - 13)) .. rest
end
local page = parent ~= '' and counted_parent()
if page == nil then return {'refused', 'parent'} end

local marks, failed = marks_of(run), run_key(run, 'failed')
local some_failed = redis.call('EXISTS', failed) == 1
local function room_until(most) return most == '' and math.huge or tonumber(most) - tonumber(discovered or '0') end
local room_of_links, room = room_until(ARGV[6]), room_until(ARGV[10])
local most_hosts, counted = ARGV[9] ~= '' and tonumber(ARGV[9]), run_key(run, 'hosts')
local lists, hosts, new, accepted, known = {}, {}, {}, 0, 0
local left_out = {scope = 0, max_pages = 0, limit = 0}
after = tonumber(after)

-- Would its domain have more hosts than it may? In `run:<run>:hosts`, a HASH, `@<domain>` has how many it has, and each host
-- that was counted a field of its own.
local function is_one_host_too_many(host, domain)
  if not most_hosts or domain == '' or redis.call('HEXISTS', counted, host) == 1 then return false end
  return tonumber(redis.call('HGET', counted, '@' .. domain) or '0') >= most_hosts
end

local function count_host(host, domain)
  if not most_hosts or domain == '' or redis.call('HSETNX', counted, host, '') == 0 then return end
  redis.call('HINCRBY', counted, '@' .. domain, 1)
end

-- 'known', 'taken', or why it is left out.
local function take(host, domain, mark, changed_at)
  if some_failed and redis.call('SISMEMBER', failed, mark) == 1 then return 'known' end
  local goes_by_changes = after and host ~= MALFORMED_HOST
  local refused = accepted >= room and 'limit' or accepted >= room_of_links and 'max_pages'
    or is_one_host_too_many(host, domain) and 'scope'
  if refused then
    if goes_by_changes then
      return is_due_now(run, marks, mark, tonumber(changed_at), after, now) and refused or 'known'
    end
    return has_mark(marks, mark) == 1 and 'known' or refused
  end
  if not goes_by_changes then return add_mark(marks, mark) == 1 and 'taken' or 'known' end
  return take_when_due(run, marks, mark, tonumber(changed_at), after, now) and 'taken' or 'known'
end

for i = 13, #ARGV - 1 do
  local host, queue, deadline, changed_at, domain, mark, form =
    string.match(ARGV[i], '^([^\t]*)\t(%a*)\t(%d*)\t(%d*)\t([^\t]*)\t([^\t]*)\t(.*)$')
  local answer = take(host, domain, mark, changed_at)
  if left_out[answer] then
    left_out[answer] = left_out[answer] + 1
  elseif answer == 'known' then
    known = known + 1
  else
    count_host(host, domain)
    if deadline ~= '0' then deadline = int(now + tonumber(deadline)) end
    local key = list_key(run, queue, host)
    local list = lists[key]
    if not list then
      list = {}
      lists[key] = list
      hosts[host] = true
    end
    list[#list + 1] = '0 0 0 ' .. deadline .. ' ' .. int(now) .. '\t' .. mark .. '\t' .. form
    accepted = accepted + 1
    new[accepted] = mark
  end
end

if page then redis.call('HSET', run_key(run, 'inflight'), parent, page) end
keep_marks(marks)
if accepted > 0 then tell_forgetter(new) end
for key, list in pairs(lists) do redis.call('RPUSH', key, unpack(list)) end
for host in pairs(hosts) do wake_host(run, host) end
if accepted > 0 then
  redis.call('HINCRBY', run_key(run), 'discovered', accepted)
  redis.call('HINCRBY', run_key(run), 'waiting', accepted)
end
if known > 0 and not is_repeat then redis.call('HINCRBY', run_key(run), 'duplicate', known) end
for why, count in pairs(left_out) do
  if count > 0 and not is_repeat then redis.call('HINCRBY', run_key(run), 'left_out:' .. why, count) end
end
local answer = {accepted, known, left_out.scope, left_out.max_pages, left_out.limit}
redis.call('SET', answered, cjson.encode(answer), 'PX', ANSWER_KEPT_MS)
return answer
