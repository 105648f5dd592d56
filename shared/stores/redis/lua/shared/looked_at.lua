-- Shared by release.lua: the state of a run during one look at it.

-- Reads a run. With `unpaced`, a run that no worker has touched is released at any pace. Release numbers start above the clock, in
-- microseconds: a store that lost its last second has forgotten the numbers of that second, and must not give them again. `given` is
-- the last number, `released` how many were given, for people. next_numbers writes both in one command, before the next host's turn.
local function read_run(run, unpaced)
  local key = run_key(run)
  local state, interval, touched, last, released, waiting, told, needs_room, tries_until = unpack(redis.call('HMGET', key,
    'state', 'interval_ms', 'touched', 'releases', 'released', 'waiting', 'give_up_ms', 'needs_room', 'tries_until'))
  local is_running = state == 'running'
  return {
    id = run, is_running = is_running, is_unpaced = unpaced and not touched,
    -- A deleted run has no interval. A running one without it is damaged.
    interval = (interval or is_running) and counter_of(run, 'interval_ms', interval or ''),
    given = math.max(counter_of(run, 'releases', last), math.min(now * 1000, HIGHEST_START)),
    released = counter_of(run, 'released', released), waiting = counter_of(run, 'waiting', waiting),
    -- Few runs have hosts in trouble: without any, no host needs to be looked up.
    is_troubled = redis.call('EXISTS', run_key(run, 'trouble')) == 1, told_give_up = as_number(told),
    needs_room = needs_room, tries_until = as_number(tries_until),
  }
end

local function next_numbers(run, count)
  run.given, run.released, run.waiting = run.given + count, run.released + count, run.waiting - count
  redis.call('HSET', run_key(run.id), 'releases', int(run.given), 'released', int(run.released), 'waiting', int(run.waiting))
  return run.given
end
