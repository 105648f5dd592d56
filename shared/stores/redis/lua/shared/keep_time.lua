-- After prelude.lua, in every script that may write: stores the time every tenth of a second, and whenever the clock was set back.

if clock < seen or clock - seen >= 100 then
  redis.call('SET', P .. 'clock', string.format('%.0f %.0f', clock, ahead))
end
