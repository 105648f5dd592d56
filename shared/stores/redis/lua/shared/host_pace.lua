-- Shared by the scripts that need it, after prelude.lua: how fast a host may be asked, and when a single task tries it first.
-- The rules are those of `task/host/host-pace.ts` and `task/host/breaker.ts`. Fields of `ratelimit:<host>`, beside others:
--   interval                         '<ms> <until>': the slowest interval that a run asked for lately, and until when it counts
--   limit                            the shortest interval allowed, set by a person, until a person ends it
--   crawl_delay, crawl_delay_until   what its robots.txt asks for, and until when that counts
--   response                         '<ms> <interval>': its recent response time, and the interval that follows from it
--   slow_ms, slow_since, slow_reason the interval it was slowed to, when, and why
--   throttles                        how often it said "slow down" since its last healthy answer
--   answered                         when it last gave a healthy answer after saying so
--   failing                          '<n> <kind>': errors in a row
--   opened, open_until               how often its breaker opened in a row, and until when it is open; absent: closed
--   probe, probe_until               '<run>|<release>', the one task that tries it, and until when its result is awaited

-- Returns a field as a number: 0 if it is absent, or holds something that no script of ours writes.
local function as_number(value)
  local number = tonumber(value or '0')
  return number and math.abs(number) < HIGHEST_START and number or 0
end

-- Returns the longest interval that applies, its reason (rate, answers, robots or slowed), and the interval of the rate alone.
local function interval_of(own, others, response, slow, delay, delay_until, limit)
  local rate, slowed = math.max(own, as_number(limit)), as_number(slow)
  local other, other_until = both_of(others)
  if other and other > rate and as_number(other_until) > now then rate = other end
  local _, by_response = both_of(response)
  local answers = rate > 0 and by_response or 0
  local robots = as_number(delay_until) > now and as_number(delay) or 0
  if slowed > math.max(rate, answers, robots) then return slowed, 'slowed', rate end
  if robots > math.max(rate, answers) then return robots, 'robots', rate end
  if answers > rate then return answers, 'answers', rate end
  return rate, 'rate', rate
end

-- Reads a host's hash and returns the same.
local function read_interval(host, own)
  return interval_of(own, unpack(redis.call('HMGET', host_key(host),
    'interval', 'response', 'slow_ms', 'crawl_delay', 'crawl_delay_until', 'limit')))
end

-- Returns why a host has to wait: the eight values that hosts.lua and trace.lua report to people.
local function circumstances_of(host, own)
  local paused, reason, by_hand, open_until, opened, response, slow_reason = unpack(redis.call('HMGET', host_key(host),
    'paused_until', 'reason', 'by_hand', 'open_until', 'opened', 'response', 'slow_reason'))
  local response_ms = both_of(response)
  local interval, because = read_interval(host, own)
  local left = math.max(0, as_number(paused) - now)
  local is_open = opened and (left == 0 or paused == open_until)
  return {
    int(interval), because, response_ms and string.format('%.1f', response_ms) or '', slow_reason or '', int(left), reason or '', by_hand and 1 or 0, is_open and 1 or 0,
  }
end

-- Is another task trying the host alone? `opened`, `probe` and `probe_until` are fields of its hash.
local function is_tried_by_other(opened, probe, probe_until, own)
  if as_number(opened) == 0 or not probe or probe == own then return false end
  -- A clock that stepped back must not leave a host waiting for the old time.
  return now < as_number(probe_until) and as_number(probe_until) <= now + PROBE_ADMITTED_MS
end

-- Lets another task try the host if this one was to, and was given back before the host was asked.
local function drop_probe(host, run, release)
  local key = host_key(host)
  if redis.call('HGET', key, 'probe') ~= run .. '|' .. release then return end
  redis.call('HDEL', key, 'probe', 'probe_until')
  wake_everywhere(host)
end

-- Counts one more error in a row. Errors of requests that were under way when the breaker opened don't open it again. A host that
-- never answered is tried again soon, however often it failed.
local function count_fault(host, kind, failing, opened, open_until, is_silent)
  local key = host_key(host)
  local count, first = string.match(failing or '', '^(%d+) (.*)$')
  count = as_number(count) + 1
  if first and first ~= kind then kind = 'errors' end
  redis.call('HSET', key, 'failing', count .. ' ' .. kind)
  opened = as_number(opened)
  if count >= FAULTS_TO_OPEN and now >= as_number(open_until) then
    local ms = is_silent and SILENT_PAUSE_MS or math.min(OPEN_CAP_MS, OPEN_BASE_MS * 2 ^ opened)
    ms = math.min(OPEN_CAP_MS, ms + math.floor(ms * (now % SECOND_MS) / (OPEN_SPREAD * SECOND_MS)))
    redis.call('HSET', key, 'opened', int(is_silent and math.max(opened, 1) or opened + 1), 'open_until', int(now + ms))
    redis.call('HDEL', key, 'probe', 'probe_until')
    pause_host(host, ms, count .. ' ' .. kind .. ' in a row')
    -- So that release.lua sees when the pause ends, or that the host has been in trouble for too long.
    wake_everywhere(host)
  end
  keep_host(host, HOST_KEPT_MS)
end

-- The host answered: closes its breaker, and lets release look at its waiting tasks. A pause for another reason stays.
local function close_breaker(host, opened, open_until, paused)
  local key = host_key(host)
  redis.call('HDEL', key, 'failing', 'opened', 'open_until', 'probe', 'probe_until')
  if not opened then return end
  if paused and paused == open_until then
    redis.call('HDEL', key, 'paused_until', 'reason')
    redis.call('ZREM', P .. 'paused', host)
  end
  wake_everywhere(host)
end

-- The host said "slow down": doubles its interval. Repeats within that interval answer earlier requests, so they count once.
local function slow_down(host, own, reason)
  local key = host_key(host)
  local slow, since = unpack(redis.call('HMGET', key, 'slow_ms', 'slow_since'))
  if slow and now < math.min(now, as_number(since)) + as_number(slow) then return end
  slow = math.min(SLOWEST_MS, math.max(SLOW_START_MS, 2 * read_interval(host, own)))
  redis.call('HSET', key, 'slow_ms', int(slow), 'slow_since', int(now), 'slow_reason', reason)
  keep_host(host, slow + HOST_KEPT_MS)
end

-- A healthy answer: shortens the slowed interval by a quarter, until the host is back at its rate.
local function speed_up(host, own, slow)
  local _, _, rate = read_interval(host, own)
  local next_slow = math.floor(as_number(slow) * 3 / 4)
  if next_slow < SLOW_END_MS or next_slow <= rate then
    redis.call('HDEL', host_key(host), 'slow_ms', 'slow_since', 'slow_reason')
  else
    redis.call('HSET', host_key(host), 'slow_ms', int(next_slow))
  end
end

-- Returns how long to pause a host that said "slow down" without a duration. Repeats during one pause count once.
local function throttle_pause_ms(host)
  local key = host_key(host)
  local paused, throttles = unpack(redis.call('HMGET', key, 'paused_until', 'throttles'))
  throttles = as_number(throttles)
  if as_number(paused) <= now or throttles == 0 then
    throttles = throttles + 1
    redis.call('HSET', key, 'throttles', int(throttles))
  end
  return math.min(THROTTLE_CAP_MS, THROTTLE_BASE_MS * 2 ^ (throttles - 1))
end

-- Updates a host's breaker and pace after a request: its fault or '', why to slow it or '', whether the answer was healthy, and whether
-- the host has never answered. A 500 of a page that failed before (`is_again`) says nothing about a host whose breaker is closed.
local function hear_of(host, own_interval, fault, slow_reason, is_up, is_silent, is_again)
  local failing, opened, open_until, paused, slow, throttles =
    unpack(redis.call('HMGET', host_key(host), 'failing', 'opened', 'open_until', 'paused_until', 'slow_ms', 'throttles'))
  if fault == PAGE_FAULT and is_again and not opened then
    -- The page's own fault; if it is the host's, other pages will show it.
  elseif fault ~= '' then
    count_fault(host, fault, failing, opened, open_until, is_silent)
  elseif failing then
    close_breaker(host, opened, open_until, paused)
  end
  if slow_reason ~= '' then slow_down(host, own_interval(), slow_reason) end
  if is_up and slow then speed_up(host, own_interval(), slow) end
  if is_up and throttles then
    redis.call('HDEL', host_key(host), 'throttles')
    redis.call('HSET', host_key(host), 'answered', int(now))
    keep_host(host, ANSWERED_LATELY_MS)
  end
end
