-- Shared by release.lua: how much of the window it may use.
--   window  HASH, present while the size isn't the first one: `size`, when it was last checked (`at`), and `shrank` once it has shrunk
--   late    when the last delivery came late, see `admit.lua`

-- Returns the usable size: less while deliveries are late or Redis is slow, and not much more than `out`, the tasks released and not
-- settled. `lag` is how long Redis takes to answer, in ms.
local function usable_window(window, out, lag)
  if window <= LEAST_WINDOW then return window end
  local key, first = P .. 'window', math.min(window, FIRST_WINDOW)
  local before, at, shrank = unpack(redis.call('HMGET', key, 'size', 'at', 'shrank'))
  local size = math.min(window, tonumber(before or first))
  if math.abs(now - as_number(at)) < WINDOW_EVERY_MS then return size end
  local is_late = now - as_number(redis.call('GET', P .. 'late')) < WINDOW_EVERY_MS
  local least = math.max(first, math.floor(window * LEAST_WINDOW_SHARE))
  if lag > LAGGING_MS then
    -- The tasks that are out cause the lag: half of them, half the lag.
    local share = math.max(LEAST_LAGGING_SHARE, math.min(WINDOW_SHRINKS_TO, LAGGING_MS / lag))
    size, shrank = math.max(LEAST_WINDOW, math.floor(math.min(size, out) * share)), '1'
  elseif is_late and size > least then
    size, shrank = math.max(least, math.floor(math.min(size, out) * WINDOW_SHRINKS_TO)), '1'
  elseif out < size / 2 then
    size = size > first and math.max(first, math.floor(size / 2)) or math.min(first, size * 2)
  elseif out >= size / WINDOW_GROWS_TO and lag <= LAGGING_MS / 2 and not (is_late and size >= least) then
    size = math.min(window, math.floor(size * (shrank and WINDOW_GROWS_TO or 2)))
  end
  if size ~= first then
    redis.call('HSET', key, 'size', int(size), 'at', int(now), shrank and 'shrank' or 'grew', '1')
    redis.call('PEXPIRE', key, MINUTE_MS)
  elseif before then
    redis.call('DEL', key)
  end
  return size
end
