-- SPDX-License-Identifier: MIT
--
-- Ctrl-C at any moment ends the program with status 130. Before the command line had begun, and after it had ended, it
-- gave 1; the folder of results was made by a program whose output could not be read then; a script that starts one
-- command after another went on, since only the command heard of it.

local fake = require "tests.support.fake"
local small_study = require "tests.support.small_study"
local support = require "tests.support"

local PROGRAM = support.program()

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Lua that gets a Ctrl-C at once.
local SIGNAL <const> = "io.popen('kill -INT $PPID'):close()"

-- In front of a script: Ctrl-C comes as the n-th function is called, from the one that $FROM names on.
local INJECTED <const> = [[
local left, from = tonumber(os.getenv "AT"), os.getenv "FROM"
debug.sethook(function()
  if from and debug.getinfo(2, "n").name ~= from then return end
  from, left = nil, left - 1
  if left == 0 then
    io.open("reached", "w"):close()
    ]] .. SIGNAL .. [[

  end
end, "c")
]]

-- Runs a study that is interrupted at a call; its status, whether it got there, and what it printed.
local function interrupted_at(at, from)
  local status, output, reached
  support.with_folder(function(folder)
    support.write(folder .. "/mine.lua", INJECTED .. small_study.TEXT)
    support.write(folder .. "/saxpy.cu", small_study.KERNELS)
    local lua = ("env AT=%d %s MOONWARP_CXX=%s '%s'"):format(at, from and "FROM=" .. from or "",
      quoted(support.core.home() .. "/tests/cxx-o0"), PROGRAM)
    local command = ("cd '%s' && %s run mine.lua --device cpu -p seconds=0 --out out 2>&1 </dev/null; echo status $?")
      :format(folder, lua)
    local pipe <close> = io.popen(command)
    output = pipe:read "a"
    status = math.tointeger(output:match "status (%d+)\n$")
    reached = io.open(folder .. "/reached") ~= nil
  end)
  return status, reached, output
end

local function check(at, from)
  local status, reached, output = interrupted_at(at, from)
  assert.are.equal(reached and 130 or 0, status, ("call %d\n%s"):format(at, output))
  return reached
end

-- What the program does with another command line.
local function with_command_line(text)
  local status, output
  support.with_folder(function(folder)
    assert(os.execute(("mkdir -p '%s/lua/moonwarp' && cp -r '%s/lua/moonwarp' '%s/lua'"):format(folder,
      support.core.home(), folder)))
    os.execute(("[ ! -d '%s/lib' ] || ln -s '%s/lib' '%s'"):format(support.core.home(), support.core.home(), folder))
    support.write(folder .. "/lua/moonwarp/cli.lua", text)
    status, output = support.child("", { lua = ("env MOONWARP_HOME='%s' '%s'"):format(folder, PROGRAM) })
  end)
  return status, output
end

describe("Ctrl-C", function()
  if not PROGRAM then return end

  it("ends a study with status 130 wherever it comes", function()
    local at, reached = 1, 0
    while check(at) do
      at, reached = at + 1 + at // 4, reached + 1
    end
    assert.is_true(reached > 20)
  end)

  it("does so when the study has ended", function()
    for at = 1, 400, 40 do assert.is_true(check(at, "final_status")) end
  end)

  it("does so before the command line has begun", function()
    local status, output = with_command_line(SIGNAL .. " return { main = function() return 0 end }")
    assert.are.equal(130, status, output)
    assert.is_truthy(output:find("interrupted", 1, true), output)
  end)

  it("does so after it has ended", function()
    local status, output = with_command_line("return { main = function() " .. SIGNAL .. " return 0 end }")
    assert.are.equal(130, status, output)
  end)

  it("is the only thing that cuts short how the folder of results is made", function()
    support.with_folder(function(folder)
      support.write(folder .. "/mkdir", "#!/bin/sh\nread -r _ _ _ up _ </proc/$PPID/stat\nkill -INT $up\n")
      assert(os.execute(("chmod +x '%s/mkdir'"):format(folder)))
      local output = support.child_passes([[
        local path = require "moonwarp.base.path"
        print(path.make "a/b", path.make "a", path.make "/proc/nowhere")
      ]], { folder = folder, env = { PATH = folder .. ":" .. os.getenv "PATH" }, lua = ("'%s' run"):format(PROGRAM) })
      assert.are.equal("nil\tnil\tcannot make the output folder /proc/nowhere: No such file or directory; choose "
        .. "another with --out DIR\n", output)
    end)
  end)

  -- What a script at a terminal is left with, whose command gets a Ctrl-C.
  local function is_ended(command)
    local code = ("while true do os.execute %q end"):format(command)
    local screen = support.typed(("'%s' -e %s; echo status $?"):format(PROGRAM, quoted(code)),
      { { "waiting", "\003" } })
    -- Some shells end with the script.
    assert.is_truthy(screen:find("status 130", 1, true) or screen:find('EXIT_CODE="130"', 1, true), screen)
  end

  it("ends a script that starts commands, with the command", function()
    is_ended "echo waiting; exec sleep 1000"
  end)

  it("ends one whose command takes it for itself", function()
    is_ended "trap 'exit 0' INT; echo waiting; while :; do sleep 0.01; done"
  end)
end)

describe("the prompt", function()
  if not PROGRAM then return end

  -- Results of the next lines went to the script's folder.
  it("is no script after mw.run, whatever cut that short", function()
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", [[
        debug.sethook(function()
          local info = debug.getinfo(2, "S")
          if not info.source:find "moonwarp/study.lua$" then return end
          debug.sethook()
          error "cut short"
        end, "c")
        error "on purpose"
      ]])
      support.write(folder .. "/lines", 'pcall(mw.run, "s.lua")\n'
        .. 'print("script", require "moonwarp.session".current.options.script)\n')
      local pipe <close> = io.popen(("cd '%s' && '%s' repl <lines 2>&1"):format(folder, PROGRAM))
      local output = pipe:read "a"
      assert.is_truthy(output:find("script\tnil", 1, true), output)
    end)
  end)
end)

-- Nothing was said, for as long as a newcomer cared to look at a cursor.
describe("a kernel that does not end", function()
  if not PROGRAM then return end

  local SCRIPT <const> = [[
    local mw = require "moonwarp"
    local dev = mw.device(arg[1])
    local m = dev:module { source = "__global__ void forever(volatile int *x) { while (*x == 0) {} }" }
    local x, one, s = dev:zeros("i32", 1), dev:full(1, "i32", 1), dev:stream()
    m.forever:launch(1, 1, one)
    if arg[2] then m.forever:prepare { grid = 1, block = 1, stream = s }(x) else m.forever:launch(1, 1, x) end
    s:synchronize()]]

  local function screen_of(words, environment, said)
    local screen
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", SCRIPT)
      screen = support.typed(("env MOONWARP_PATIENCE=0.2 %s %s run %s/s.lua -- %s"):format(environment or "",
        quoted(PROGRAM), folder, words), { { said, "\003" } })
    end)
    return screen
  end

  it("is named at a terminal, with the way out", function()
    local said <const> = "moonwarp: kernel 'forever' is still running; Ctrl-C ends it"
    for _, words in ipairs { "cpu", "cpu stream" } do
      local screen = screen_of(words, nil, said)
      assert.is_truthy(screen:find(said, 1, true), screen)
      assert.is_truthy(screen:find("s.lua:%d+: interrupted"), screen)
    end
  end)

  it("is named on a GPU as what was launched last", function()
    if not fake.is_possible() or not support.has_nvrtc() then
      pending "needs NVRTC, and a C compiler for the fake driver"
      return
    end
    local said <const> = "moonwarp: kernel 'forever' was launched last, and the device is still busy; Ctrl-C ends the "
      .. "wait"
    local screen = screen_of("cuda:0 stream", "MOCK_CUDA_HANG=1 MOONWARP_LIBCUDA=" .. fake.library(), said)
    assert.is_truthy(screen:find(said, 1, true), screen)
    assert.is_truthy(screen:find("s.lua:%d+: interrupted"), screen)
  end)
end)

describe("os.execute of the program", function()
  if not PROGRAM then return end

  it("is Lua's", function()
    assert.is_true(os.execute())
    assert.are.same({ true, "exit", 0 }, { os.execute "true" })
    assert.are.same({ n = 3, nil, "exit", 3 }, table.pack(os.execute "exit 3"))
    assert.are.same({ n = 3, nil, "signal", 9 }, table.pack(os.execute "kill -9 $$"))
    assert.is_false((pcall(os.execute, {})))
  end)
end)
