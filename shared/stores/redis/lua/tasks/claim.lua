#!lua flags=allow-oom
-- Takes the mark of the URL that redirects led a task to, for that task.
-- ARGV   prefix, run, release, the task's own mark, the mark that it claims, 'take' or 'look' (changes nothing), time
-- Result 'claimed': the mark was free, or was this task's already; 'taken': it is another task's; 'free': 'look' found it free;
--        'stale': the ledger has no such release of the task
-- Atomic; run twice, the second finds what the first did. A task that is redirected elsewhere the next time frees its first claim.

local run, own, mark = ARGV[2], ARGV[4], ARGV[5]
if not entry_of(run, ARGV[3], own) then return 'stale' end
if own == mark then return 'claimed' end
local owner = redis.call('HGET', run_key(run, 'claims'), '<' .. mark)
if owner == own then return 'claimed' end
local marks = marks_of(run)
if has_mark(marks_for(run, marks, mark), mark) == 1 then return 'taken' end
if ARGV[6] == 'look' then return 'free' end
free_claim(run, marks, own)
take_claimed(run, marks, mark)
redis.call('HSET', run_key(run, 'claims'), '<' .. mark, own, '>' .. own, mark)
return 'claimed'
