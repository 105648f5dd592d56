#!lua flags=allow-oom
-- Settles tasks that were released only to fail: past their deadline, of a host that is down, or not a URL.
-- ARGV   prefix, run, reason, (release, its mark)…, time
-- Result how many of them the ledger held
-- Needs  host_pace.lua, groups.lua
-- Atomic: the first settle of a release wins; run twice, the second changes nothing.

local run, reason = ARGV[2], ARGV[3]
local held, failed, urls = {}, {}, {}
-- By host, the task that tries it while its breaker is open.
local probes = {}
for _, each in ipairs(entries_of(run, 4)) do
  local host = read_flight(each.entry).host
  if probes[host] == nil then probes[host] = redis.call('HGET', host_key(host), 'probe') end
  if probes[host] == run .. '|' .. each.release then drop_probe(host, run, each.release) end
  held[#held + 1], failed[#failed + 1] = each.release, each.mark
  if host ~= MALFORMED_HOST then urls[#urls + 1] = each.mark end
end
if #failed > 0 then
  leave_ledger(run, unpack(held))
  count_failed(run, reason, failed)
  count_steps(run, 'failed', urls)
  for _, mark in ipairs(urls) do end_in_group(run, mark, 'failed', reason) end
  finish_if_done(run)
end
return #failed
