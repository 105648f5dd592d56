-- Shared by the scripts that need it: which hosts give a run nothing but errors, and which have answered it. The rules are those
-- of `task/host/host-trouble.ts`.
--   run:<id>:trouble   HASH, host → '<since> <last> <kind> <silent since> <1 once given up> <reason>': the times of its first and
--                      last error since its last healthy answer, and of its first error without an answer if it never answered
--                      this run, else 0. Stored less the idle time at the moment of writing, which doesn't count
--   run:<id>:answered  HASH, three digits of SHA-1 → the next three bytes of it for each host that has answered, healthily or not.
--                      For 100 000 hosts that is 5 bytes each. A host mistaken for another, one in a million, is waited for longer

-- Maximum bytes of a bucket's digests. Above it, which takes a million hosts, the oldest is forgotten.
local BUCKET_BYTES = 768

local function place_of(host)
  local hex = redis.sha1hex(host)
  local digits = tonumber(string.sub(hex, 4, 9), 16)
  local high = math.floor(digits / 256)
  return string.sub(hex, 1, 3), string.char(math.floor(high / 256), high % 256, digits % 256)
end

local function is_among(digest, digests)
  local at = string.find(digests, digest, 1, true)
  while at and at % 3 ~= 1 do at = string.find(digests, digest, at + 1, true) end
  return at ~= nil
end

local function has_answered(run, host)
  local bucket, digest = place_of(host)
  return is_among(digest, redis.call('HGET', run_key(run, 'answered'), bucket) or '')
end

local function note_answer(run, host)
  local bucket, digest = place_of(host)
  local digests = redis.call('HGET', run_key(run, 'answered'), bucket) or ''
  if is_among(digest, digests) then return end
  if #digests >= BUCKET_BYTES then digests = string.sub(digests, 4) end
  redis.call('HSET', run_key(run, 'answered'), bucket, digests .. digest)
end

-- Total time without a worker at work: none was started, the machine was asleep, its containers were paused, or RabbitMQ was
-- unreachable. Times of troubles are stored less this total, so a trouble gets no older while nobody can ask the host. It is what
-- roster.lua has noted, plus the time since the last beat if that is more than a minute ago.
local idle
local function idle_time()
  if not idle then
    local last, noted = string.match(redis.call('GET', P .. 'beats') or '', '^(%d+) (%d+)$')
    local silent = last and now - last or 0
    idle = (noted or 0) + (silent > MINUTE_MS and silent or 0)
  end
  return idle
end

local function read_trouble(run, host)
  local since, last, kind, silent_since, is_given_up, reason =
    string.match(redis.call('HGET', run_key(run, 'trouble'), host) or '', '^(%d+) (%d+) (%l+) (%d+) (%d) (.*)$')
  if not since then return nil end
  local gone = idle_time()
  return {
    since = since + gone, last = last + gone, kind = kind, silent_since = silent_since == '0' and 0 or silent_since + gone,
    is_given_up = is_given_up == '1', reason = reason,
  }
end

local function write_trouble(run, host, trouble)
  local gone = idle_time()
  local silent_since = trouble.silent_since == 0 and 0 or trouble.silent_since - gone
  redis.call('HSET', run_key(run, 'trouble'), host, table.concat({
    int(trouble.since - gone), int(trouble.last - gone), trouble.kind, int(silent_since), trouble.is_given_up and 1 or 0, trouble.reason,
  }, ' '))
end

-- Records that a host gave no healthy answer. Returns whether it has never answered this run, as far as is known.
local function note_trouble(run, host, kind, reason, spoke)
  if kind == 'answered' or spoke then note_answer(run, host) end
  if kind == 'silent' and (spoke or has_answered(run, host)) then kind = 'answered' end
  local trouble = read_trouble(run, host) or {since = now, silent_since = 0}
  trouble.last, trouble.kind, trouble.reason = now, kind, reason
  if kind ~= 'silent' then trouble.silent_since = 0 elseif trouble.silent_since == 0 then trouble.silent_since = now end
  write_trouble(run, host, trouble)
  return kind == 'silent'
end

-- Returns the time from which the host counts as down.
local function down_at(trouble, give_up)
  local at = trouble.since + give_up
  if trouble.silent_since == 0 or trouble.last - trouble.silent_since < SILENT_TRIES_SPAN_MS then return at end
  return math.min(at, trouble.silent_since + SILENT_GIVE_UP_MS)
end

-- Returns the time from which the host will count as down if tries continue to fail; for people.
local function expected_down_at(trouble, give_up)
  local at = trouble.since + give_up
  return trouble.silent_since == 0 and at or math.min(at, trouble.silent_since + SILENT_GIVE_UP_MS)
end
