#!lua flags=allow-oom
-- Settles tasks that were released only to end: past their deadline, of a host that is down, or no URL.
-- ARGV   prefix, run, reason, (release, its mark)…, time
-- Result how many the ledger held
-- Needs  host_pace.lua, groups.lua
-- Atomic: the first settle of a release wins; run twice, the second changes nothing.

local run, reason, failed, urls = ARGV[2], ARGV[3], {}, {}
for i = 4, #ARGV - 2, 2 do
  local entry = entry_of(run, ARGV[i], ARGV[i + 1])
  if entry then
    local task = read_flight(entry)
    leave_ledger(run, ARGV[i])
    drop_probe(task.host, run, ARGV[i])
    failed[#failed + 1] = ARGV[i + 1]
    if task.host ~= MALFORMED_HOST then urls[#urls + 1] = ARGV[i + 1] end
  end
end
if #failed > 0 then
  count_failed(run, reason, failed)
  count_steps(run, 'failed', urls)
  for _, mark in ipairs(urls) do end_in_group(run, mark, 'failed', reason) end
  finish_if_done(run)
end
return #failed
