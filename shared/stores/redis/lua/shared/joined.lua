-- Makes the calls of joined scripts, each of which is a function of `calls`: see joinScripts in script-text.ts.
local replies, at = {}, 2
while at < #ARGV do
  local last = at + 1 + tonumber(ARGV[at + 1])
  local is_ok, reply = pcall(calls[ARGV[at]], {P, unpack(ARGV, at + 2, last)})
  if not is_ok and type(reply) ~= 'table' then reply = redis.error_reply('ERR ' .. tostring(reply)) end
  -- Redis ends a list at its first nil.
  if reply == nil then reply = false end
  replies[#replies + 1] = reply
  at = last + 1
end
return replies
