-- SPDX-License-Identifier: MIT
--
-- moonwarp repl: the prompt (prompt/repl.lua).

local repl = { most = 0 }

repl.usage = [[
usage: moonwarp repl

A prompt. mw is moonwarp; expressions are printed; Tab completes globals, fields and methods; an
unfinished statement continues at the next prompt. help, help(mw.bench), help(dev) and help "bench"
explain. Ctrl-C discards the line or ends the running code; exit, quit, q or Ctrl-D leaves.
The history is kept in $XDG_STATE_HOME/moonwarp/history, else ~/.local/state/moonwarp/history.]]

repl.example = [[echo 'help(mw.bench)' | moonwarp repl]]

--- The command.
function repl.run()
  require("moonwarp.prompt.repl").run()
end

return repl
