#!lua flags=allow-oom
-- Ends the leases of a run's queued tasks after the broker was wiped: each task waits again.
-- ARGV   prefix, run, cursor ('0' to begin), about how many entries of the ledger to scan, time
-- Result {the next cursor, or '0' at the end of the ledger; how many leases were ended}
-- Needs  groups.lua
-- Atomic per call; may run any number of times. A delivery that exists after all has a stale number, and is dropped.

local run, run_state = ARGV[2], redis.call('HGET', run_key(ARGV[2]), 'state')
local scanned = redis.call('HSCAN', run_key(run, 'inflight'), ARGV[3], 'COUNT', ARGV[4])
local queued, entries = {}, {}
for i = 1, #scanned[2], 2 do
  local release, entry = scanned[2][i], scanned[2][i + 1]
  -- A scan may show an entry twice.
  if string.sub(entry, 1, 6) == 'queued' and not entries[release] then
    queued[#queued + 1] = release
    entries[release] = entry
  end
end
-- The last number first, since each goes to the head of its list.
table.sort(queued, function(a, b) return tonumber(a) > tonumber(b) end)
for _, release in ipairs(queued) do
  leave_ledger(run, release)
  put_back(run, run_state, read_flight(entries[release]))
end
if #queued > 0 then finish_if_done(run) end
return {scanned[1], #queued}
