#!lua
-- Adds the tasks that a run doesn't know yet.
-- ARGV   prefix, run, the offer's id, its options (JSON: `OfferOptions` of `ports/frontier/frontier.ts`),
--        then one argument for each task, its parts separated by tabs: host, queue, deadline in ms or 0, changed at or '',
--        domain if its hosts are counted or '', what it is a replay of ('task' | 'group' | ''), mark, form; then the time
-- Result {accepted, known, left out by the limit of hosts, of links, of tasks}, or {'refused', 'run' | 'parent'}. If some of a
--        parent's earlier links were lost, the parent is put back: see LinkTally of `ports/frontier/frontier.ts`.
-- Needs  groups.lua
-- Atomic: mark, waiting entry and counters come together. Sent again within a minute because its answer was lost, it changes
--         nothing and gets the same answer; run again, it would find everything known and count duplicates. Without allow-oom: a
--         full Redis refuses new work, while scripts that drain it still run.

local run, answered = ARGV[2], P .. 'offer:' .. ARGV[3]
local answer_before = redis.call('GET', answered)
if answer_before then return cjson.decode(answer_before) end
local options = cjson.decode(ARGV[4])
local parent = options.parent
local state, discovered, after, incarnation, joins =
  unpack(redis.call('HMGET', run_key(run), 'state', 'discovered', 'recrawl_after_ms', 'incarnation', 'joins'))
if state ~= 'running' and state ~= 'paused' then return {'refused', 'run'} end
if options.incarnation and options.incarnation ~= incarnation then return {'refused', 'run'} end

-- Returns the parent's entry with this offer counted, or nil if the parent is stale or links that it offered before are lost.
local function counted_parent()
  local release, stamp, before = int(parent.release), parent.tally.stamp, parent.tally.links
  local entry = entry_of(run, release, parent.mark)
  if not entry then return nil end
  local phase, tally, rest = string.match(entry, '^([^ /]+)(%S*)( .*)$')
  local last_stamp, links = string.match(tally, '^/(.+)/(%d+)$')
  local held = last_stamp == stamp and tonumber(links) or 0
  if held < before then
    local task = read_flight(entry)
    -- Its worker has survived it, so its starts don't count.
    task.starts = 0
    leave_ledger(run, release)
    put_back(run, state, task)
    return nil
  end
  return phase .. '/' .. stamp .. '/' .. int(math.max(held, before + #ARGV - 5)) .. rest
end
local page = parent ~= nil and counted_parent()
if page == nil then return {'refused', 'parent'} end

local marks, failed = marks_of(run), run_key(run, 'failed')
local some_failed = redis.call('EXISTS', failed) == 1
local function room_until(most) return most and most - tonumber(discovered or '0') + tonumber(joins or '0') or math.huge end
local room_of_links, room = room_until(options.most), room_until(options.limit)
local most_hosts, counted = options.mostHosts, run_key(run, 'hosts')
local lists, heads, hosts, new, urls, accepted, known = {}, {}, {}, {}, {}, 0, 0
-- The group of the tasks that are members of one (all are links of one page), and how many members were taken.
local group, members = nil, 0
local left_out = {scope = 0, max_pages = 0, limit = 0}
after = tonumber(after)

-- Would the domain have too many hosts with this one? `run:<run>:hosts` is a HASH with the number of hosts in `@<domain>`, and a field
-- for each host that was counted.
local function is_one_host_too_many(host, domain)
  if not most_hosts or domain == '' or redis.call('HEXISTS', counted, host) == 1 then return false end
  return tonumber(redis.call('HGET', counted, '@' .. domain) or '0') >= most_hosts
end

local function count_host(host, domain)
  if not most_hosts or domain == '' or redis.call('HSETNX', counted, host, '') == 0 then return end
  redis.call('HINCRBY', counted, '@' .. domain, 1)
end

-- Returns 'taken', 'known', or why the task is left out.
local function take(host, domain, mark, changed_at, replay_of)
  if some_failed and redis.call('SISMEMBER', failed, mark) == 1 then return 'known' end
  local own_group = group_in(mark)
  local goes_by_changes = after and host ~= MALFORMED_HOST and not own_group
  local refused = accepted >= room and 'limit' or accepted >= room_of_links and 'max_pages'
    or is_one_host_too_many(host, domain) and 'scope'
  -- Ignores a mark from before, since its group is crawled once more.
  if replay_of == 'group' then
    local is_known = is_own_mark(run, marks, mark)
    if is_known or refused then return is_known and 'known' or refused end
    take_mark(run, marks, mark)
    return 'taken'
  end
  if refused then
    if goes_by_changes then
      return is_due_now(run, marks, mark, tonumber(changed_at), after, now) and refused or 'known'
    end
    return has_mark(marks_for(run, marks, mark), mark) == 1 and 'known' or refused
  end
  if own_group then
    if add_mark(marks_for(run, marks, mark), mark) == 0 then return 'known' end
    group, members = own_group, members + 1
    return 'taken'
  end
  if not goes_by_changes then
    if add_mark(marks, mark) == 0 then return 'known' end
    if replay_of == 'task' then note_own_mark(run, marks, mark) end
    return 'taken'
  end
  return take_when_due(run, marks, mark, tonumber(changed_at), after, now) and 'taken' or 'known'
end

for i = 5, #ARGV - 1 do
  local host, queue, deadline, changed_at, domain, replay_of, mark, form =
    string.match(ARGV[i], '^([^\t]*)\t(%a*)\t(%d*)\t(%d*)\t([^\t]*)\t(%a*)\t([^\t]*)\t(.*)$')
  local answer = take(host, domain, mark, changed_at, replay_of)
  if left_out[answer] then
    left_out[answer] = left_out[answer] + 1
  elseif answer == 'known' then
    known = known + 1
  else
    count_host(host, domain)
    if deadline ~= '0' then deadline = int(now + tonumber(deadline)) end
    local key = list_key(run, queue, host)
    -- Members go to the head, so that groups end before new ones begin.
    local of = members > 0 and group_in(mark) and heads or lists
    local list = of[key]
    if not list then
      list = {}
      of[key] = list
      hosts[host] = true
    end
    list[#list + 1] = '0 0 0 ' .. deadline .. ' ' .. int(now) .. '\t' .. mark .. '\t' .. form
    accepted = accepted + 1
    new[accepted] = mark
    if host ~= MALFORMED_HOST then urls[#urls + 1] = mark end
  end
end

if page then redis.call('HSET', run_key(run, 'inflight'), int(parent.release), page) end
keep_marks(marks)
if accepted > 0 then tell_forgetter(new) end
for key, list in pairs(lists) do redis.call('RPUSH', key, unpack(list)) end
for key, list in pairs(heads) do
  for i = #list, 1, -1 do redis.call('LPUSH', key, list[i]) end
end
if members > 0 then
  if redis.call('HSETNX', group_key(run, group), 'open', 1) == 1 then
    redis.call('HSET', inputs_key(run, group), '@owner', string.match(page, '^[^\t]*\t(.*)$'))
    local claimed = redis.call('HGET', run_key(run, 'claims'), '>' .. parent.mark)
    if claimed then redis.call('HSET', inputs_key(run, group), '@claimed', claimed) end
    redis.call('HINCRBY', run_key(run), 'open_groups', 1)
  end
  redis.call('HINCRBY', group_key(run, group), 'open', members)
end
if accepted > 0 then
  local plan = plan_of(run)
  if plan and #plan.run > 0 then redis.call('HSET', run_key(run), 'joins_due', 1) end
end
for host in pairs(hosts) do wake_host(run, host) end
if accepted > 0 then
  redis.call('HINCRBY', run_key(run), 'discovered', accepted)
  redis.call('HINCRBY', run_key(run), 'waiting', accepted)
  count_steps(run, 'discovered', urls)
end
if known > 0 and not options['repeat'] then redis.call('HINCRBY', run_key(run), 'duplicate', known) end
for why, count in pairs(left_out) do
  if count > 0 and not options['repeat'] then redis.call('HINCRBY', run_key(run), 'left_out:' .. why, count) end
end
local answer = {accepted, known, left_out.scope, left_out.max_pages, left_out.limit}
redis.call('SET', answered, cjson.encode(answer), 'PX', ANSWER_KEPT_MS)
return answer
