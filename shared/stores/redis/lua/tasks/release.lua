#!lua flags=allow-oom
-- Leases due tasks, each under a new release number.
-- ARGV   prefix, limit, window, 1 if no worker is alive, host concurrency, give up after ms, the looker's id or '' to look in any
--        case, ms of the look lease, ms that Redis takes to answer, bytes that Redis uses, bytes that it may use or 0, time
-- Needs  damage.lua, host_pace.lua, late.lua, looked_at.lua, put_back.lua, troubles.lua, window.lua
-- Result {ms until the next look, the time, entry…}, an entry being '<verdict> <release> <run> <host> <queue> ' and the waiting
--        form of the task, or 'damaged <run> <why>'; {ms until the look lease ends, the time, 'left'} while another process looks
-- Atomic: a task is in its list or in the ledger, never in both. Run twice, the second releases other tasks, and leases bring
--         back those whose answer was lost.
--
-- Runs take turns: first those below their even share of the window, then the rest of the window is lent. Within a run, hosts are
-- visited by the time of their next look. A host's cursor is shared by all runs, so that two runs on one host don't release twice
-- as much as the gate lets through.

local limit, window, unpaced = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1'
local concurrency, give_up = tonumber(ARGV[5]), tonumber(ARGV[6])

local looker, lease_ms, lag = ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9])
local used, memory = tonumber(ARGV[10]), tonumber(ARGV[11])

-- Returns for how long looking is left to another process, else 0. While the window is full or nothing is due, one process looks
-- for all of them, since the others would look in vain.
local function left_to_other_ms()
  local other, till = string.match(redis.call('GET', P .. 'looker') or '', '^(%S+) (%d+)$')
  if looker == '' or not other or other == looker then return 0 end
  -- After the clock stepped back, a dead process must not keep the lease.
  local left = tonumber(till) - now
  return left <= lease_ms and left or 0
end
if left_to_other_ms() > 0 then return {int(left_to_other_ms()), int(now), 'left'} end

local reply, looks = {0, int(now)}, 0

-- Stores a host's cursor. A run whose own interval is the slowest stores that too, for other runs.
local function keep_cursor(host, cursor, own, rate, interval)
  local lasts = INTERVAL_KNOWN_MS + 2 * own
  if own > 0 and rate == own then
    redis.call('HSET', host_key(host), 'release_at', int(cursor), 'interval', int(own) .. ' ' .. int(now + lasts),
      'per_minute', int(MINUTE_MS / interval))
  else
    redis.call('HSET', host_key(host), 'release_at', int(cursor))
  end
  keep_host(host, math.max(cursor - now, lasts) + HOST_KEPT_MS)
end

-- Has the host given this run nothing but errors for too long, and is it still pausing us, or is its last error recent? After a
-- night without a fleet, it is asked once more.
local function is_down(host, trouble)
  if not trouble or now < down_at(trouble, give_up) then return false end
  -- Paused by hand: the wait is not the host's doing.
  if redis.call('HEXISTS', host_key(host), 'by_hand') == 1 then return false end
  local recently = now - trouble.since < give_up and SILENT_GIVE_UP_MS or give_up
  return now - trouble.last < recently or as_number(redis.call('HGET', host_key(host), 'paused_until')) > now
end

-- Returns the trouble that a host gave the run, if any. Also stores how long such hosts are waited for, to tell people.
local function trouble_of(run, host)
  local trouble = run.is_troubled and read_trouble(run.id, host)
  if trouble and run.told_give_up ~= give_up then
    redis.call('HSET', run_key(run.id), 'give_up_ms', int(give_up))
    run.told_give_up = give_up
  end
  return trouble
end

-- Counts a host that is given up; the first ones are stored by name.
local function note_given_up(run, host, trouble)
  if trouble.is_given_up then return end
  trouble.is_given_up = true
  write_trouble(run.id, host, trouble)
  if redis.call('HINCRBY', run_key(run.id), 'hosts_down', 1) <= MOST_NAMED_DOWN then
    redis.call('HSET', run_key(run.id), 'down:' .. host, trouble.kind .. ' ' .. trouble.reason)
  end
end

-- Maximum number of tasks past their deadline that are taken together, once one was found.
local LATE_TOGETHER = 50

-- Moves tasks of a host into the ledger: up to `count` to be worked on, and up to `most` together with those past their deadline,
-- which need no pace. Returns how many are to be worked on, how many were taken in all, and the last release number.
local function take(run, host, count, most, forced, pop)
  local go, taken, last = 0, 0, nil
  for _, queue in ipairs({'priority', 'normal'}) do
    local key, were_late = list_key(run.id, queue, host), false
    while go < count and taken < most do
      local some = math.min(count - go, most - taken)
      if were_late and pop == 'LPOP' then
        some = math.max(some, late_at_head(key, math.min(LATE_TOGETHER, most - taken)))
      end
      local entries = redis.call(pop, key, some)
      if not entries then break end
      last = next_numbers(run, #entries)
      local flights, leases = {}, {}
      for i, entry in ipairs(entries) do
        local release = int(last - #entries + i)
        local verdict, host, queue = forced or 'go', host, queue
        local deadline = deadline_in(entry)
        were_late = deadline ~= nil and is_late(deadline)
        if not deadline then
          verdict, host, queue, entry = 'malformed', MALFORMED_HOST, 'normal', unreadable(entry)
        elseif verdict == 'go' then
          if were_late then verdict = 'deadline' else go = go + 1 end
        end
        flights[#flights + 1] = release
        flights[#flights + 1] = 'publishing ' .. host .. ' ' .. queue .. ' ' .. entry
        leases[#leases + 1] = int(now + PUBLISHING_MS)
        leases[#leases + 1] = release
        reply[#reply + 1] = verdict .. ' ' .. release .. ' ' .. run.id .. ' ' .. host .. ' ' .. queue .. ' ' .. entry
      end
      write_ledger(run.id, flights, leases)
      taken = taken + #entries
    end
  end
  return go, taken, last
end

local function has_waiting(run, host)
  return redis.call('EXISTS', list_key(run.id, 'priority', host), list_key(run.id, 'normal', host)) > 0
end

-- Releases the due tasks of one host. Returns how many were taken.
local function visit_host(run, host, quota)
  local ready = run_key(run.id, 'ready')
  local forced, trouble
  if host == MALFORMED_HOST then forced = 'malformed' else trouble = trouble_of(run, host) end
  if is_down(host, trouble) then
    forced = 'host_down'
    note_given_up(run, host, trouble)
  end
  local count, pace, cursor, is_tried, interval, rate = quota, 0, now, false, 0, 0
  local lead = LEAD_MS
  if not forced and host ~= JOIN_HOST then
    local gate = redis.call('HMGET', host_key(host),
      'next_at', 'paused_until', 'release_at', 'interval', 'response', 'by_hand', 'slow_ms', 'opened', 'probe',
      'probe_until', 'crawl_delay', 'crawl_delay_until', 'limit')
    -- A clock that stepped back must not leave a host waiting for the old time.
    local farthest = now + RETRY_AFTER_CAP_MS
    local paused = math.min(as_number(gate[2]), farthest)
    if paused > now then
      -- Look again when the pause ends, or when the host will have been in trouble for too long.
      local at = paused
      if trouble and not gate[6] then at = math.min(paused, math.max(down_at(trouble, give_up), now + LEAD_MS)) end
      redis.call('ZADD', ready, int(at), host)
      return 0
    end
    if not run.is_unpaced then
      local longest, _, by_rate = interval_of(run.interval, gate[4], gate[5], gate[7], gate[11], gate[12],
        gate[13])
      interval, rate, pace = longest, by_rate, longest
      local response_ms = both_of(gate[5])
      if concurrency > 0 and response_ms then pace = math.max(pace, response_ms / concurrency) end
    end
    if pace > 0 then
      -- Where workers reached slots too late to use them, the gate's next slot is ahead of the release cursor.
      cursor = math.min(math.max(now, as_number(gate[3]), as_number(gate[1])), farthest)
      if pace < FAST_LEAD_MS then lead = FAST_LEAD_MS end
      if cursor > now + lead then
        redis.call('ZADD', ready, int(cursor - lead), host)
        return 0
      end
      count = math.min(quota, math.floor((now + lead - cursor) / pace) + 1)
    end
    is_tried = as_number(gate[8]) > 0
    if is_tried and is_tried_by_other(gate[8], gate[9], gate[10]) then
      redis.call('ZADD', ready, int(gate[10]), host)
      return 0
    end
  end
  -- The breaker is open, and its pause is over: one task tries the host. It comes from the tail, as those at the head have just failed.
  if is_tried then count = 1 end
  local go, taken, last = take(run, host, count, quota, forced, is_tried and 'RPOP' or 'LPOP')
  if pace > 0 and go > 0 then
    cursor = math.ceil(cursor + go * pace)
    keep_cursor(host, cursor, run.interval, rate, interval)
  end
  if is_tried and go > 0 then
    redis.call('HSET', host_key(host), 'probe', run.id .. '|' .. int(last), 'probe_until', int(now + PROBE_RELEASED_MS))
  end
  if not has_waiting(run, host) then
    redis.call('ZREM', ready, host)
  elseif is_tried and go > 0 then
    redis.call('ZADD', ready, int(now + PROBE_RELEASED_MS), host)
  elseif pace > 0 and cursor > now + lead then
    -- Half the lead, so that a fast host gets more at once, and so that runs alternate: one that found it not due looks earlier.
    redis.call('ZADD', ready, int(cursor - lead / 2), host)
  else
    redis.call('ZADD', ready, int(now), host)
  end
  return taken
end

-- Sets when to look at a run again: at its first host's or first retry's time.
local function reschedule(run)
  local host = redis.call('ZRANGE', run_key(run, 'ready'), 0, 0, 'WITHSCORES')
  local retry = redis.call('ZRANGE', run_key(run, 'putback'), 0, 0, 'WITHSCORES')
  local at = math.min(tonumber(host[2] or 'inf'), tonumber(retry[2] or 'inf'))
  if retry[2] and redis.call('ZCOUNT', run_key(run, 'putback'), int(NO_ROOM_FROM), '+inf') > 0 then
    at = math.min(at, now + ROOM_LOOK_MS)
  end
  if at == math.huge then redis.call('ZREM', P .. 'ready', run) else redis.call('ZADD', P .. 'ready', int(at), run) end
end

-- Returns the due hosts, the longest due first. If there are more than looks, also returns those that became due last, to take turns
-- with them: hosts that were just asked continue over the same connections before all others have had their first turn.
local function due_hosts(run, most)
  local ready = run_key(run, 'ready')
  local oldest = redis.call('ZRANGEBYSCORE', ready, '-inf', int(now), 'LIMIT', 0, most)
  if #oldest < most then return oldest, {} end
  return oldest, redis.call('ZREVRANGEBYSCORE', ready, int(now), '-inf', 'LIMIT', 0, math.ceil(most / 2))
end

local function visit_run(id, quota, most_looks)
  check_ledger(id)
  local run = read_run(id, unpaced)
  if not run.is_running then resume_with_room(run, used, memory) end
  if not run.is_running then
    if run.needs_room then
      redis.call('ZADD', P .. 'ready', int(now + ROOM_LOOK_MS), id)
    else
      redis.call('ZREM', P .. 'ready', id)
    end
    return 0
  end
  wake_put_back(id, 0, now)
  wake_those_without_room(run, used, memory)
  local left, visited = quota, {}
  local function visit(host)
    if not host or visited[host] or left <= 0 or most_looks <= 0 then return end
    visited[host], looks, most_looks = true, looks + 1, most_looks - 1
    local why, taken = damage_in(visit_host, run, host, left)
    if why then
      local is_forgotten = forget_if_damaged(host)
      if not is_forgotten then reply[#reply + 1] = 'damaged ' .. id .. ' ' .. why end
      redis.call('ZADD', run_key(id, 'ready'), int(is_forgotten and now or now + DAMAGED_LOOK_MS), host)
    end
    left = left - (taken or 0)
  end
  local oldest, newest = due_hosts(id, most_looks)
  for i, host in ipairs(oldest) do
    visit(newest[i])
    visit(host)
    if left <= 0 then break end
  end
  reschedule(id)
  return quota - left
end

local out, out_of = 0, {}
for _, run in ipairs(redis.call('ZRANGE', P .. 'runs:open', 0, -1)) do
  local _, count = damage_in(redis.call, 'HLEN', run_key(run, 'inflight'))
  out_of[run] = count or 0
  out = out + out_of[run]
end

local is_damaged = {}
local function visit_if_whole(run, quota, most_looks)
  if is_damaged[run] then return 0 end
  local why, taken = damage_in(visit_run, run, quota, most_looks)
  if not why then return taken end
  is_damaged[run] = true
  redis.call('ZADD', P .. 'ready', int(now + DAMAGED_LOOK_MS), run)
  reply[#reply + 1] = 'damaged ' .. run .. ' ' .. why
  return 0
end

window = usable_window(window, out, lag)
local budget = math.min(limit, window - out)
local wanting = redis.call('ZRANGEBYSCORE', P .. 'ready', '-inf', int(now), 'LIMIT', 0, MOST_RUNS_LOOKED_AT)
local share = math.floor(window / math.max(1, #wanting))
-- Looks are shared too: a run whose hosts were all paused at once needs many, and releases nothing for them.
local looks_each = math.ceil(MOST_LOOKS / math.max(1, #wanting))
for _, lend in ipairs({false, true}) do
  for _, run in ipairs(wanting) do
    local quota = lend and budget or math.min(budget, share - (out_of[run] or 0))
    local most_looks = lend and MOST_LOOKS - looks or math.min(looks_each, MOST_LOOKS - looks)
    if quota > 0 and most_looks > 0 then budget = budget - visit_if_whole(run, quota, most_looks) end
  end
end
if looker ~= '' and #reply - 2 < limit then
  redis.call('SET', P .. 'looker', looker .. ' ' .. int(now + lease_ms), 'PX', lease_ms * 4)
elseif looker ~= '' then
  -- There is more to do than one process can: the next one helps.
  redis.call('DEL', P .. 'looker')
end

local first = redis.call('ZRANGE', P .. 'ready', 0, 0, 'WITHSCORES')
reply[1] = int(first[2] and math.max(0, tonumber(first[2]) - now) or IDLE_LOOK_MS)
return reply
