-- Shared by every script, before prelude.lua: the marks, which say that a URL is taken.
--
-- A run with dedup `run` has a set of its own. All others share `crawled_urls`, which has one of two forms:
--   exact    `crawled_urls`, a SET of canonical URLs
--   compact  `crawled_urls:compact`, a HASH {shards, members}, and `crawled_urls:<n>`, SETs of 64-bit digests
-- A shard is a set of integers, which Redis keeps as a sorted array of 8 bytes each while it has no more than 512
-- (set-max-intset-entries, at its default). So shards grow in number, not in size: by linear hashing, one shard is split
-- whenever there are more than SHARD_SIZE members per shard. Shards that are next to be split have up to twice that, 400:
-- passing 512 is 5 standard deviations away, and would only cost memory.

local MARKS = ARGV[1] .. 'crawled_urls'
local SHARD_SIZE = 200

local function shard_key(shard)
  return MARKS .. ':' .. string.format('%.0f', shard)
end

-- Returns nearly 64 bits of SHA-1 as a signed integer, in decimal digits because a Lua number holds 53 bits, and its last nine
-- digits, which choose the shard.
local function digest_of(mark)
  local hex = redis.sha1hex(mark)
  local high = 1 + tonumber(string.sub(hex, 1, 13), 16) % DIGEST_HIGH
  local low = tonumber(string.sub(hex, 14, 25), 16) % DIGEST_LOW
  local sign = tonumber(string.sub(hex, 26, 26), 16) % 2 == 0 and '-' or ''
  return string.format('%s%.0f%09.0f', sign, high, low), low
end

local function is_compact()
  return redis.call('EXISTS', MARKS .. ':compact') == 1
end

-- Returns the form in force, after adopting the wanted one if no URL is known.
local function agree_on_marks(wanted)
  if redis.call('EXISTS', MARKS) == 1 then return 'exact' end
  if tonumber(redis.call('HGET', MARKS .. ':compact', 'members') or '0') > 0 then return 'compact' end
  if wanted == 'compact' then
    redis.call('HSETNX', MARKS .. ':compact', 'shards', 1)
  else
    redis.call('DEL', MARKS .. ':compact')
  end
  return wanted
end

-- Returns the marks that runs share, for has_mark, add_mark and remove_marks. Call keep_marks after the last change.
local function shared_marks()
  if not is_compact() then return {set = MARKS} end
  local shards = tonumber(redis.call('HGET', MARKS .. ':compact', 'shards'))
  local half = 1
  while half * 2 <= shards do half = half * 2 end
  return {shards = shards, half = half, change = 0}
end

-- Returns the marks that apply to a run: its own, or the shared ones.
local function marks_of(run)
  local key = ARGV[1] .. 'run:' .. run
  if redis.call('HGET', key, 'dedup') == 'run' then return {set = key .. ':seen', run = run} end
  return shared_marks()
end

local function shard_of(marks, low)
  local shard = low % (2 * marks.half)
  return shard < marks.shards and shard or shard - marks.half
end

-- Returns the last part of a mark: the group that its task belongs to. The mark of a text that isn't a URL may end like that too, but
-- begins with two spaces.
local function group_in(mark)
  return string.match(mark, '^ ?%S.* @(%w+)$')
end

-- Returns the field of a mark in its group's HASH: see groups.lua.
local function member_digest(mark)
  return string.sub(redis.sha1hex(mark), 1, 16)
end

-- Returns 1 or 0.
local function has_mark(marks, mark)
  if marks.group then return redis.call('HEXISTS', marks.group, member_digest(mark)) end
  if marks.set then return redis.call('SISMEMBER', marks.set, mark) end
  local digest, low = digest_of(mark)
  return redis.call('SISMEMBER', shard_key(shard_of(marks, low)), digest)
end

-- Returns 1 if the mark is new.
local function add_mark(marks, mark)
  if marks.group then return redis.call('HSETNX', marks.group, member_digest(mark), '') end
  if marks.set then return redis.call('SADD', marks.set, mark) end
  local digest, low = digest_of(mark)
  local added = redis.call('SADD', shard_key(shard_of(marks, low)), digest)
  marks.change = marks.change + added
  return added
end

-- Returns how many were removed.
local function remove_marks(marks, list)
  if marks.group then return redis.call('HDEL', marks.group, member_digest(list[1])) end
  if marks.set then return redis.call('SREM', marks.set, unpack(list)) end
  local removed = 0
  for _, mark in ipairs(list) do
    local digest, low = digest_of(mark)
    removed = removed + redis.call('SREM', shard_key(shard_of(marks, low)), digest)
  end
  marks.change = marks.change - removed
  return removed
end

-- Adds a shard, and moves to it the digests of an older shard that one more bit of the digest puts there.
local function split_shard(marks)
  local new = marks.shards
  if new == 2 * marks.half then marks.half = new end
  local old = new - marks.half
  local staying, going = {}, {}
  for _, digest in ipairs(redis.call('SMEMBERS', shard_key(old))) do
    local list = tonumber(string.sub(digest, -9)) % (2 * marks.half) == new and going or staying
    list[#list + 1] = digest
  end
  marks.shards = new + 1
  if #going == 0 then return end
  redis.call('DEL', shard_key(old))
  if #staying > 0 then redis.call('SADD', shard_key(old), unpack(staying)) end
  redis.call('SADD', shard_key(new), unpack(going))
end

-- Called after the last change: updates the counts, and splits as many shards as needed.
local function keep_marks(marks)
  if marks.set or marks.group or marks.change == 0 then return end
  local members, before = redis.call('HINCRBY', MARKS .. ':compact', 'members', marks.change), marks.shards
  while members > SHARD_SIZE * marks.shards do split_shard(marks) end
  if marks.shards > before then redis.call('HSET', MARKS .. ':compact', 'shards', marks.shards) end
  marks.change = 0
end

