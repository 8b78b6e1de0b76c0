-- SPDX-License-Identifier: MIT
--
-- The compiler's process of the CPU device: its limits, its end with ours, what it is given and what it leaves. A
-- script stands in for the compiler where a real one would take long.

local support = require "tests.support"

local LOAD = [[
  local dev = require "moonwarp".device "cpu"
  local m <close> = dev:module { source = "#define VALUE 3\n__global__ void k(int *x) { x[0] = VALUE; }" }
]]

-- %s: what stands in for the call that preprocesses, and for the one that makes the shared object.
local COMPILER = [[
#!/bin/sh
case "$*" in
  *unit.so*) %s ;;
  *-E*) %s ;;
esac
exec c++ "$@"
]]

-- Loads a module in a process with this compiler: its status and what it wrote.
local function load_with(folder, compiler, env)
  support.write(folder .. "/compiler", COMPILER:format(compiler.build or ":", compiler.preprocess or ":"))
  os.execute(("chmod +x '%s/compiler'; mkdir -p '%s/tmp'"):format(folder, folder))
  local all = { MOONWARP_CACHE = folder .. "/cache", MOONWARP_CXX = folder .. "/compiler", TMPDIR = folder .. "/tmp" }
  for name, value in pairs(env or {}) do all[name] = value end
  return support.child(LOAD, { env = all })
end

local function is_running(pid)
  local file = io.open(("/proc/%d/stat"):format(pid))
  local state = file and file:read "a":match "%) (%a)"
  if file then file:close() end
  return state and not state:find "[ZX]"
end

describe("a compiler's process", function()
  for name, case in pairs {
    ["that computes for ever"] = { preprocess = "while :; do :; done", env = { MOONWARP_COMPILE_SECONDS = "1" },
      said = "used more than 1 s of processor time; MOONWARP_COMPILE_SECONDS sets the limit" },
    ["that writes for ever"] = { preprocess = "exec yes",
      said = "wrote more than 64.0 MiB, which is not a source: look for a macro or an included file without end" },
    ["that needs too much memory"] = { env = { MOONWARP_COMPILE_MEMORY = "3221225472" },
      build = [[test "$(ulimit -v)" = 3145728 && echo "error: out of memory" >&2; exit 1]],
      said = "out of memory; MOONWARP_COMPILE_MEMORY sets the limit in bytes" },
    -- g++ lets the process that compiles reach the limit, and then says that the compiler crashed.
    ["whose child computes for ever"] = {
      build = [[echo 'c++: internal compiler error: CPU time limit exceeded signal terminated program x' >&2; exit 4]],
      said = "CPU time limit exceeded signal terminated program x; MOONWARP_COMPILE_SECONDS sets the limit" },
    ["that writes too large a file"] = {
      build = [[test "$(ulimit -f)" = 1048576 && echo "File too large" >&2; exit 1]],
      said = "File too large; a compiled module may have 512 MiB" },
    -- The loader got SIGBUS.
    ["that writes half a module and returns 0"] = {
      build = [[c++ "$@"; while [ "$1" != -o ]; do shift; done; truncate -s 4096 "$2"; exit 0]],
      said = "unit.so: the compiler wrote no whole module there; is the disk full?" },
    ["that writes an empty module and returns 0"] = {
      build = [[while [ "$1" != -o ]; do shift; done; : >"$2"; exit 0]],
      said = "unit.so: the compiler wrote no whole module there; is the disk full?" },
  } do
    it(name .. " is an error", function()
      support.with_folder(function(folder)
        local status, output = load_with(folder, case, case.env)
        assert.are.equal(1, status, output)
        assert.is_truthy(output:find(case.said, 1, true), output)
      end)
    end)
  end

  it("may have no limits", function()
    support.with_folder(function(folder)
      local ours = io.popen("echo $(ulimit -t) $(ulimit -v)"):read "l"
      local same = ([[test "$(ulimit -t) $(ulimit -v)" = "%s" || exit 1]]):format(ours)
      local status, output = load_with(folder, { preprocess = same },
        { MOONWARP_COMPILE_SECONDS = "0", MOONWARP_COMPILE_MEMORY = "0" })
      assert.are.equal(0, status, output)
    end)
  end)

  -- It went on, and its files stayed in TMPDIR.
  it("ends with its children when ours is killed, and its files go with the next", function()
    support.with_folder(function(folder)
      local status = load_with(folder, { build = ([[: >"$TMPDIR/unit.s"; sleep 1000 & echo $! >'%s/child'
        echo $$ >'%s/self'; kill -9 $PPID; sleep 1000]]):format(folder, folder) })
      assert.are.equal(137, status)
      for _, name in ipairs { "child", "self" } do
        local pid = tonumber(support.read(folder .. "/" .. name))
        while is_running(pid) do os.execute "sleep 0.01" end
      end
      assert.are.equal(1, #support.files(folder .. "/tmp"))
      assert.is_truthy(support.files(folder .. "/tmp")[1]:find("/tmp/moonwarp%-unit%-%w+/temporary/unit%.s$"))
      local _, output = load_with(folder, {})
      assert.are.equal("", output)
      assert.is_nil(io.popen(("ls '%s/tmp'"):format(folder)):read "l")
    end)
  end)
end)

support.each_device("a module", function(dev)
  -- g++ has no room for so many arguments.
  it("may have many long defines", function()
    local defines = { ["F(a,b)"] = "(a==b)", FLAG = true, EMPTY = "" }
    for i = 1, 30000 do defines["NAME_OF_A_DEFINE_" .. i] = i end
    local m <close> = dev:module { defines = defines, cache = false, source = [[
      __global__ void k(int *x) { EMPTY x[0] = NAME_OF_A_DEFINE_30000 + FLAG + F(2, 2); }]] }
    local x <close> = dev:zeros("i32", 1)
    m.k:launch(1, 1, x)
    assert.are.equal(30002, x:get(1))
  end)
end)
