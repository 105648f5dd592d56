-- Shared by every script, after marks.lua: what incremental runs remember of a page, `page:<mark>`, and when they take a marked
-- URL again.
--
-- A mark says that a URL was taken once, not whether a task for it is live now. There must be at most one live task per mark,
-- so the record of a page that an incremental run has seen also says that:
--   taken   '-'       no task for it is live in a run that shares its marks
--           a run     that run has taken it again: its task may be live while the run is open
--           missing   unknown: a task may be live in any open run that shares its marks

local function page_key(mark)
  return ARGV[1] .. 'page:' .. mark
end

-- Returns after how many ms the pages of an incremental run are due again, 0 for never; nil if the run isn't incremental.
local function recrawl_after(run)
  return tonumber(redis.call('HGET', ARGV[1] .. 'run:' .. run, 'recrawl_after_ms'))
end

local function is_due(fetched_at, changed_at, after, at)
  if not fetched_at then return after > 0 end
  fetched_at = tonumber(fetched_at)
  return (changed_at and changed_at > fetched_at) or (after > 0 and at - fetched_at >= after)
end

-- Is another run open that shares the marks? Looked up once per script, since one script may ask about a thousand URLs.
local other_is_open
local function is_other_open(run)
  if other_is_open ~= nil then return other_is_open end
  other_is_open = false
  for _, other in ipairs(redis.call('ZRANGE', ARGV[1] .. 'runs:open', 0, -1)) do
    if other ~= run and redis.call('HGET', ARGV[1] .. 'run:' .. other, 'dedup') ~= 'run' then other_is_open = true end
  end
  return other_is_open
end

local function is_live(run, taken)
  if taken == '-' then return false end
  if taken then return redis.call('ZSCORE', ARGV[1] .. 'runs:open', taken) ~= false end
  return is_other_open(run)
end

local function write_page(mark, ...)
  redis.call('HSET', page_key(mark), ...)
  redis.call('PEXPIRE', page_key(mark), PAGE_RETENTION_MS)
end

-- Would an incremental run take a URL? It takes each URL only once, however often it is offered.
local function is_due_now(run, marks, mark, changed_at, after, at)
  local is_marked = has_mark(marks, mark) == 1
  if marks.run then
    if is_marked then return false end
    local fetched_at = after > 0 and redis.call('HGET', page_key(mark), 'fetched_at')
    return not fetched_at or is_due(fetched_at, changed_at, after, at)
  end
  if redis.call('SISMEMBER', ARGV[1] .. 'run:' .. run .. ':taken', mark) == 1 then return false end
  if not is_marked then return true end
  local fetched_at, taken = unpack(redis.call('HMGET', page_key(mark), 'fetched_at', 'taken'))
  return is_due(fetched_at, changed_at, after, at) and not is_live(run, taken)
end

-- Has the run itself taken a URL? With shared marks, known only of URLs that `note_own_mark` has noted.
local function is_own_mark(run, marks, mark)
  if marks.run then return has_mark(marks, mark) == 1 end
  return redis.call('SISMEMBER', ARGV[1] .. 'run:' .. run .. ':taken', mark) == 1
end

local function note_own_mark(run, marks, mark)
  if not marks.run then redis.call('SADD', ARGV[1] .. 'run:' .. run .. ':taken', mark) end
end

-- Takes a URL, even one that is already marked.
local function take_mark(run, marks, mark)
  local is_new = add_mark(marks, mark) == 1
  if not is_new then write_page(mark, 'taken', run) end
  note_own_mark(run, marks, mark)
end

-- Takes a URL if it is due.
local function take_when_due(run, marks, mark, changed_at, after, at)
  if not is_due_now(run, marks, mark, changed_at, after, at) then return false end
  take_mark(run, marks, mark)
  return true
end

-- Remembers a page that a run with these marks has visited.
local function remember_page(marks, mark, page, at)
  local taken = not marks.run and {'taken', '-'} or {}
  write_page(mark, 'fetched_at', string.format('%.0f', at - page.askedMsAgo), 'etag', page.etag or '',
    'modified', page.modified or '', 'content_hash', page.contentHash, 'bytes', string.format('%.0f', page.bytes),
    'read_as', page.readAs, 'claimed', page.claimed or '', unpack(taken))
end

-- Returns the marks of cancelled tasks to drop: those of pages taken again stay, since they were crawled before.
local function without_retaken(run, list)
  if redis.call('EXISTS', ARGV[1] .. 'run:' .. run .. ':taken') == 0 then return list end
  local gone = {}
  for _, mark in ipairs(list) do
    if redis.call('HGET', page_key(mark), 'taken') == run then
      redis.call('HSET', page_key(mark), 'taken', '-')
    else
      gone[#gone + 1] = mark
    end
  end
  return gone
end
