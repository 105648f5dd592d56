-- Shared by the scripts that end tasks, after prelude.lua: groups of tasks, and the joins made when a group's last member has ended.
-- The rules are those of `task/group/plan.ts`, whose plan a run keeps as JSON in its field `plan`.
--
-- `run:<run>:group:<group>`, a HASH that exists from the owner's first child until the group's last join has ended. The group of an
-- owner without children begins when the owner is done.
--   open     members that have not ended, including the owner
--   ended    the owner's outcome
--   layer    the last layer of joins that was made; `left`: how many joins of that layer have not ended
--   bytes    size of the inputs; `large`: 1 if they were more than a group may hold
--   failed, skipped, cancelled
--            how many members and joins ended that way, and are missing from the inputs
--   and a field of 16 hex digits for each mark taken in the group. All values are short, so that Redis keeps the hash packed.
-- `run:<run>:group:<group>:inputs`, a HASH:
--   <mark>   what joins get of this member or join (JSON)
--   !<n>     '<outcome> <reason or -> TAB mark' of one that is missing; only the first ones are named
--   @owner   the owner's mark TAB its form; `@claimed`: the mark that its redirects have claimed

-- Returns the join and the group that a mark names; nil if it is the mark of a URL.
local function join_in(mark)
  return string.match(mark, '^(%S+) @(%w+)$')
end

local function inputs_key(run, group)
  return group_key(run, group) .. ':inputs'
end

local function drop_group(run, group)
  if redis.call('UNLINK', group_key(run, group), inputs_key(run, group)) > 0 then
    redis.call('HINCRBY', run_key(run), 'open_groups', -1)
  end
end

local function make_layer(run, plan, planned, group, layer)
  local key = group_key(run, group)
  redis.call('HSET', key, 'layer', layer, 'left', #planned.layers[layer])
  make_joins(run, plan, planned.layers[layer], group, redis.call('HGET', inputs_key(run, group), '@owner'))
end

-- The last member, or the last join of a layer, has ended: makes the next layer of joins, or drops the group.
local function go_on(run, plan, planned, group)
  local layer, ended = unpack(redis.call('HMGET', group_key(run, group), 'layer', 'ended'))
  local next = tonumber(layer or '0') + 1
  if ended ~= 'done' or not planned.layers[next] or redis.call('HGET', run_key(run), 'state') == 'cancelled' then
    return drop_group(run, group)
  end
  make_layer(run, plan, planned, group, next)
end

local function is_in(list, wanted)
  for _, each in ipairs(list) do
    if each == wanted then return true end
  end
  return false
end

-- Records how a member or join ended: what joins get of it, or why it is missing.
local function keep_result(run, group, mark, outcome, reason, input)
  local key = group_key(run, group)
  if outcome ~= 'done' then
    local missing = 0
    for _, count in ipairs(redis.call('HMGET', key, 'failed', 'skipped', 'cancelled')) do missing = missing + tonumber(count or '0') end
    redis.call('HINCRBY', key, outcome, 1)
    if missing < MOST_MISSING then
      redis.call('HSET', inputs_key(run, group), '!' .. missing, outcome .. ' ' .. (reason or '-') .. '\t' .. mark)
    end
  elseif input and input ~= '' then
    local before, is_large = unpack(redis.call('HMGET', key, 'bytes', 'large'))
    local bytes = tonumber(before or '0') + #input
    if is_large or bytes > MAX_GROUP_BYTES then
      redis.call('HSET', key, 'large', 1)
    else
      redis.call('HSET', inputs_key(run, group), mark, input)
      redis.call('HSET', key, 'bytes', bytes)
    end
  end
end

-- Called once for each task that ends, whatever its outcome. `rest` is the entry without its numbers (mark TAB form), `claimed` the
-- mark that redirects have led it to claim, or ''; only an owner's are used.
function end_in_group(run, mark, outcome, reason, input, rest, claimed)
  local plan = plan_of(run)
  if not plan then return end
  local join, group = join_in(mark)
  if join then
    if group == OF_RUN then return end
    local planned = plan.groups[plan.joins[join].per]
    keep_result(run, group, mark, outcome, reason, input)
    if redis.call('HINCRBY', group_key(run, group), 'left', -1) == 0 then go_on(run, plan, planned, group) end
    return
  end
  local step = string.match(mark, '^(%S*) ') or ''
  group = group_in(mark)
  local planned = plan.groups[group and (plan.owners[step] or NO_STEP) or step]
  if not planned then return end
  if not group then
    group = group_of(mark)
    if redis.call('EXISTS', group_key(run, group)) == 0 then
      -- The owner has no children.
      if outcome ~= 'done' or redis.call('HGET', run_key(run), 'state') == 'cancelled' then return end
      redis.call('HSET', group_key(run, group), 'open', 1)
      redis.call('HSET', inputs_key(run, group), '@owner', rest)
      redis.call('HINCRBY', run_key(run), 'open_groups', 1)
    end
    redis.call('HSET', group_key(run, group), 'ended', outcome)
    if rest then redis.call('HSET', inputs_key(run, group), '@owner', rest) end
    if claimed == '' then redis.call('HDEL', inputs_key(run, group), '@claimed')
    elseif claimed then redis.call('HSET', inputs_key(run, group), '@claimed', claimed) end
  end
  keep_result(run, group, mark, outcome, reason, is_in(planned.takes, step) and input)
  if redis.call('HINCRBY', group_key(run, group), 'open', -1) == 0 then go_on(run, plan, planned, group) end
end
