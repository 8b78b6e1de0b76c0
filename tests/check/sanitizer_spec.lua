-- SPDX-License-Identifier: MIT
--
-- Check mode of a GPU: what is made of the reports of compute-sanitizer's tools, which were recorded on a GPU
-- (tests/check/sanitizer), and how they are run, by a stand-in over the fake driver. $MOONWARP_PROGRAM is what was
-- built.

local fake = require "tests.support.fake"
local files = require "moonwarp.base.files"
local json = require "moonwarp.base.json"
local labs = require "tests.support.labs"
local lists = require "moonwarp.base.lists"
local report = require "moonwarp.tools.sanitizer_report"
local support = require "tests.support"
local core = support.core

local RECORDED <const> = core.home() .. "/tests/check/sanitizer"

-- ---- reports ------------------------------------------------------------------------------------

local function words(...)
  return table.concat(lists.map({ ... }, tostring), " ")
end

-- "bounds behind 4: write 70 (36,0,0)/(1,0,0); offset 400 ..."
local function line_of(one)
  local parties = lists.map(one.parties, function(party)
    local who = party.thread and (" (%s)/(%s)"):format(table.concat(party.thread, ","), table.concat(party.block, ","))
    return words(party.verb, party.line) .. (who or "")
  end)
  return ("%s %s %d: %s; %s"):format(one.kind, one.kernel, one.count, table.concat(parties, ", "), one.object)
end

local function read(tool)
  local list, more = report.read(files.read(("%s/%s.log"):format(RECORDED, tool)), "gpu:check")
  return table.concat(lists.map(assert(list, more), line_of), "\n"), more, list
end

describe("a report of compute-sanitizer", function()
  it("is read: memcheck", function()
    local text, more, list = read "memcheck"
    assert.are.equal([[
bounds behind 4: write 70 (36,0,0)/(1,0,0); offset 400 of an array of 400 bytes
bounds front 1: read 78 (0,0,0)/(0,0,0); offset -4 of an array of 400 bytes
misaligned misaligned 1: write 95 (0,0,0)/(0,0,0); offset 8 of an array of 400 bytes
bounds atomic_behind 1: atomic 101 (3,0,0)/(0,0,0); offset 400 of an array of 400 bytes
bounds shared_behind 1: write 82 (31,0,0)/(0,0,0); address 0x480 of shared memory
bounds null 2: write 98 (0,0,0)/(0,0,0); address 0x0
bounds scaled<float, 3> 1: read 118 (36,0,0)/(1,0,0); offset 400 of an array of 400 bytes
bounds scaled<double, 3> 1: read 118 (36,0,0)/(1,0,0); offset 800 of an array of 800 bytes
bounds called 2: write 7 (0,0,0)/(0,0,0); offset 400 of an array of 400 bytes
bounds one 1: write 2 (0,0,0)/(0,0,0); offset 400 of an array of 400 bytes
fault assertion 1: instruction 135 (3,0,0)/(0,0,0); trace/breakpoint trap]], text)
    assert.are.equal(0, more)
    assert.are.equal("/home/user/src/part.cuh 4 gpu:check guard the access by the array's length false",
      words(list[9].parties[1].file, list[9].parties[1].bytes, list[9].device, list[9].remedy, list[9].intended))
  end)

  it("is read: racecheck, whose warnings count", function()
    assert.are.equal([[
race in shared memory race 1536: write 14, read 15; nil
race in shared memory race_write 126: write 19, write 19; nil
race in shared memory race_loop 1024: write 35, read 35; nil]], (read "racecheck"))
  end)

  it("is read: synccheck", function()
    assert.are.equal([[
barrier barrier 2: wait 47 (0,0,0)/(0,0,0); divergent threads in warp
barrier barrier_warps 1: wait 56 (32,0,0)/(0,0,0); divergent threads in block
mask syncwarp 1: wait 60 (0,0,0)/(0,0,0); invalid arguments
mask shuffle 2: wait 65 (0,0,0)/(0,0,0); invalid arguments]], (read "synccheck"))
  end)

  it("is read: initcheck, without what it says of copies", function()
    local text, more = read "initcheck"
    assert.are.equal("uninitialised uninit 3: read 108 (0,0,0)/(0,0,0); nil", text)
    assert.are.equal(96, more)
  end)

  it("is rejected if it is not whole, or says what is not known", function()
    local whole = files.read(RECORDED .. "/memcheck.log")
    for wanted, text in pairs {
      ["its report has no summary"] = whole:gsub("[^\n]*ERROR SUMMARY[^\n]*\n", ""),
      ["its report counts 18 errors and has 17"] = whole:gsub("SUMMARY: 17", "SUMMARY: 18"),
      ["Error: Device not supported"] = "========= COMPUTE-SANITIZER\n========= Error: Device not supported\n",
      ["Something new"] = "========= Something new\n=========     of another form\n========= ERROR SUMMARY: 1 error",
    } do
      local list, problem = report.read(text, "gpu:check")
      assert.is_nil(list)
      assert.are.equal(wanted, problem:match "[^\n]*")
    end
    assert.are.equal("its report has no summary", (select(2, report.read("", "gpu:check"))))
  end)
end)

-- ---- runs ---------------------------------------------------------------------------------------

if not fake.is_possible() then
  pending("the fake driver needs a C compiler and its sources")
  return
end

local function environment_of()
  return ("PATH=%s:$PATH MOONWARP_LIBCUDA=%s MOONWARP_LIBNVML=%s MOCK_CUDA_LEAKS=1"):format(labs.quoted(RECORDED),
    fake.library(), fake.library())
end

-- Runs in a folder with the files, on a machine that seems to have a GPU; run(line, environment) gives status and
-- output.
local function with(list, body)
  support.with_folder(function(folder)
    for name, text in pairs(list) do support.write(folder .. "/" .. name, text) end
    body(function(line, environment)
      return labs.shell(("cd %s && %s %s %s %s </dev/null"):format(labs.quoted(folder), environment_of(),
        environment or "", labs.quoted(labs.program), line))
    end, folder)
  end)
end

local function has(output, text)
  assert.is_truthy(output:find(text, 1, true), ("'%s' is not in\n%s"):format(text, output))
end

local function record_in(folder)
  return assert(json.decode(support.read(support.run(folder .. "/out") .. "/record.json")))
end

local SCRIPT <const> = [[
local mw = require "moonwarp"
mw.arg("n", 1, "a number")
local dev = mw.device()
print(dev:id(), dev:properties().checks, table.concat(arg, "|"), #mw.findings(), #dev:findings())
print(mw.bench(function() dev:synchronize() end).n)
mw.remark "done"
]]

-- A report with one record, of a tool.
local RACE <const> = [[
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at red(int *)+0xc0 in /elsewhere/k.cu:3
=========     and Read access at red(int *)+0xd0 in /elsewhere/k.cu:4 [1,536 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
]]

describe("check mode of a GPU", function()
  it("runs the script under each tool, then by itself", function()
    with({ ["s.lua"] = SCRIPT }, function(run, folder)
      local status, output = run("run s.lua --check -p n=1,2 -- a 'b c'", "STAND_IN_CALLS=calls")
      assert.are.equal(0, status, output)
      has(output, "cuda:check\ttrue\ta|b c\t0\t0\n0\n")
      has(output, "check mode: no errors found; compute-sanitizer does not see races in global memory")
      local tools, calls = {}, files.read(folder .. "/calls")
      for tool, line in calls:gmatch "(%a+): ([^\n]*)" do
        tools[#tools + 1] = tool
        has(line, " run s.lua -p n=1,2 --check --quiet --out ")
        assert.is_truthy(line:find "/out %-%- a b c$")
      end
      assert.are.equal("memcheck racecheck synccheck initcheck", table.concat(tools, " "))
      local scratch = calls:match "%-%-log%-file (%S+)/log "
      assert.is_nil(require("lfs").attributes(scratch))
      assert.is_truthy(files.entries(folder .. "/out/s")[1]:find "cuda%-check$")
    end)
  end)

  it("adds what the tools found to the run", function()
    local script = SCRIPT .. 'dev:module { name = "k.cu", source = "__global__ void red(int *x) {\\n'
      .. '  __shared__ int s[64];\\n  s[threadIdx.x] = 1; \\n  x[0] = s[0]; // MARK\\n}" }\nprint(#mw.findings())'
    for mark, wanted in pairs { ["none"] = 3, ["moonwarp: race-ok as told"] = 0 } do
      with({ ["s.lua"] = script:gsub("MARK", mark), ["racecheck.log"] = RACE }, function(run, folder)
        local status, output = run("run s.lua --check", "STAND_IN_REPORTS=.")
        assert.are.equal(wanted, status, output)
        has(output, "cuda:check\ttrue\t\t1\t1\n")
        if wanted == 0 then
          return has(output, "intended race in shared memory: kernel 'red', k.cu:3, 1536 times: as told")
        end
        has(output, "race in shared memory: kernel 'red'\n  write  k.cu:3  s[threadIdx.x] = 1;\n"
          .. "  read   k.cu:4  x[0] = s[0]; // none\n  1536 times; put __syncthreads() between")
        has(output, "moonwarp: check mode found an error\n")
        local found = record_in(folder)
        assert.are.equal("check failed red 1 1", words(found.status, found.findings[1].kernel, #found.findings,
          #found.checks))
        assert.is_nil(require "moonwarp.results.record_schema".problem(found))
      end)
    end
  end)

  it("is chosen by mw.device, by the device's id and for -e", function()
    for line, id in pairs { ['"cuda", { check = true }'] = "", ['"cuda:check"'] = "", [""] = "--device cuda:check" } do
      with({}, function(run, folder)
        local status, output = run(("-e 'print(mw.device(%s):id()) mw.device(%s)' %s"):format(line, line, id),
          "STAND_IN_CALLS=calls")
        assert.are.equal(0, status, output)
        assert.are.equal("cuda:check\n", output)
        assert.are.equal(4, select(2, files.read(folder .. "/calls"):gsub("\n", "")))
      end)
    end
  end)

  it("leaves arrays unwritten at birth", function()
    local make = [[local a = mw.device():array("u8", 64) print(a:get(1))]]
    with({}, function(run)
      local _, timed = run("-e '" .. make .. "'")
      local _, checked = run("-e '" .. make .. "' --check --quiet")
      assert.are_not.equal(timed, checked)
    end)
  end)

  local compiles = support.has_nvrtc() and it or pending
  compiles("compiles with the lines of sources, apart from other runs", function()
    support.with_folder(function(folder)
      local output = fake.run([[
        local function misses(id)
          local before = core.cache_stat().misses
          core.device(id):module { source = "__global__ void one(int *x) { x[0] = 1; }" }
          return core.cache_stat().misses - before
        end
        print(misses "cuda:0", misses "cuda:check", misses "cuda:0", misses "cuda:check")]],
        { MOONWARP_CACHE = folder })
      assert.are.equal("1\t1\t0\t0\n", output)
    end)
  end)

  it("says that a tool could not run, or not the whole script", function()
    with({ ["s.lua"] = SCRIPT, ["f.lua"] = SCRIPT .. "error 'enough'" }, function(run)
      local status, output = run("run s.lua --check", "STAND_IN_STATUS=255")
      assert.are.equal(1, status, output)
      has(output, "check mode: memcheck could not run (exit status 255): Error: Device not supported")
      status, output = run "run f.lua --check"
      assert.are.equal(1, status, output)
      has(output, "check mode: the script failed under memcheck (exit status 1):\n")
      has(output, "\n  moonwarp: f.lua:7: enough\n")
    end)
  end)

  it("says so beside what was found", function()
    with({ ["f.lua"] = SCRIPT .. "error 'enough'", ["racecheck.log"] = RACE }, function(run)
      local status, output = run("run f.lua --check", "STAND_IN_REPORTS=.")
      assert.are.equal(1, status, output)
      has(output, "note: the script failed under memcheck (exit status 1):\n")
      has(output, "\n  moonwarp: f.lua:7: enough\n")
      has(output, "note: nor have these seen the whole script: racecheck, synccheck, initcheck\n")
      has(output, "race in shared memory: kernel 'red'")
    end)
  end)

  it("tells a fault that another tool explains once", function()
    local head = "========= %s\n=========     at red(int *)+0xa0 in /k.cu:3\n"
      .. "=========     by thread (0,0,0) in block (0,0,0)\n========= \n========= ERROR SUMMARY: 1 error\n"
    local list = { ["memcheck.log"] = head:format "Illegal instruction",
                   ["synccheck.log"] = head:format "Barrier error detected. Invalid arguments." }
    with(list, function(run, folder)
      local _, output = run("-e 'mw.device()' --check", "STAND_IN_REPORTS=.")
      has(output, "mask: kernel 'red', invalid arguments\n")
      assert.is_nil(output:find("fault", 1, true), output)
      os.remove(folder .. "/synccheck.log")
      _, output = run("-e 'mw.device()' --check", "STAND_IN_REPORTS=.")
      has(output, "fault: kernel 'red', illegal instruction\n")
    end)
  end)

  it("is of the first GPU", function()
    with({}, function(run)
      local status, output = run("-e 'mw.device()' --check --device cuda:1", "MOCK_CUDA_DEVICES=2")
      assert.are.equal(1, status, output)
      has(output, "device 'cuda:1': check mode is of the first device; set CUDA_VISIBLE_DEVICES=1 and use 'cuda'")
    end)
  end)

  it("judges as the tools do", function()
    with({}, function(run)
      local status, output = run "-e 'mw.device()' --check=strict --device cuda"
      assert.are.equal(1, status, output)
      has(output, "check mode of device 'cuda' has no strict, schedule, seed or blocks; use --device cpu")
      status, output = run "-e 'print(mw.device():id())' --check=strict"
      assert.are.equal(0, status, output)
      has(output, "cpu:check\n")
    end)
  end)

  it("needs a script of the program", function()
    local stock = support.stock_interpreter()
    if not stock then return end
    local _, output = support.child([[print(pcall(require "moonwarp".device, "cuda", { check = true }))
      print(require "moonwarp".device(nil, { check = true }):id())]], { lua = stock, env = {
      MOONWARP_LIBCUDA = fake.library(), MOONWARP_LIBNVML = fake.library(), MOCK_CUDA_LEAKS = 1 } })
    has(output, "check mode of device 'cuda' runs a whole script under compute-sanitizer: write one")
    has(output, "cpu:check")
  end)

  it("ends with all its processes at Ctrl-C, and leaves nothing", function()
    local script = SCRIPT .. 'if os.getenv "NV_SANITIZER_INJECTION_PORT_BASE" then while true do end end'
    with({ ["s.lua"] = script }, function(_, folder)
      local status, output = support.signalled(("cd %s; %s STAND_IN_CALLS=calls exec %s run s.lua --check"):format(
        labs.quoted(folder), environment_of(), labs.quoted(labs.program)), "INT",
        { "[ -s " .. labs.quoted(folder) .. "/calls ]" })
      assert.are.equal(130, status, output)
      local scratch = files.read(folder .. "/calls"):match "%-%-log%-file (%S+)/log "
      assert.is_nil(require("lfs").attributes(scratch))
      assert.are_not.equal(0, (labs.shell("pgrep -f " .. labs.quoted(scratch .. "/out$"))))
    end)
  end)
end)

describe("a tool that the user has started", function()
  it("leaves nothing to be timed", function()
    with({ ["s.lua"] = SCRIPT }, function(run)
      local status, output = run("run s.lua", "NV_SANITIZER_INJECTION_PORT_BASE=20000")
      assert.are.equal(0, status, output)
      has(output, "note: under compute-sanitizer nothing is timed, and it reports itself what it finds\n")
      has(output, "cuda:0\ttrue\t\t0\t0\n0\n")
      status, output = run("run s.lua --check", "NV_SANITIZER_INJECTION_PORT_BASE=20000 STAND_IN_STATUS=255")
      assert.are.equal(0, status, output)
      assert.is_nil(output:find("no errors found", 1, true), output)
    end)
  end)
end)

describe("without compute-sanitizer", function()
  if files.exists "/usr/local/cuda/bin/compute-sanitizer" or labs.shell "command -v compute-sanitizer" == 0 then
    pending("it is installed here")
    return
  end
  local NONE <const> = "PATH=/usr/bin:/bin CUDA_HOME= CUDA_PATH="

  it("the CPU device checks", function()
    with({}, function(run)
      local status, output = run("-e 'print(mw.device():id())' --check", NONE)
      assert.are.equal(0, status, output)
      has(output, "note: compute-sanitizer was not found; the CPU device checks\n")
      has(output, "cpu:check\n")
    end)
  end)

  it("a GPU that was asked for is an error", function()
    with({}, function(run)
      local status, output = run("-e 'print(mw.device():id())' --check --device cuda", NONE)
      assert.are.equal(1, status, output)
      has(output, "check mode of device 'cuda' needs compute-sanitizer, which is neither on $PATH nor in bin of "
        .. "$CUDA_HOME, $CUDA_PATH or /usr/local/cuda: install the CUDA toolkit, or use --device cpu")
    end)
  end)

  it("is found by $CUDA_HOME", function()
    with({}, function(run, folder)
      assert(require("lfs").mkdir(folder .. "/bin"))
      assert(os.execute(("ln -s %s/compute-sanitizer %s/bin/"):format(labs.quoted(RECORDED), labs.quoted(folder))))
      local status, output = run("-e 'print(mw.device():id())' --check --device cuda", "PATH=/usr/bin:/bin CUDA_HOME=.")
      assert.are.equal(0, status, output)
      has(output, "cuda:check\n")
    end)
  end)
end)

describe("the check pass of a lab for GPUs", function()
  it("runs on the GPU, if the tools are there", function()
    local function devices(words_of)
      local _, output
      local list = ('return { { script = "s.lua", name = "s", check = true, devices = %s } }'):format(words_of)
      with({ ["s.lua"] = SCRIPT, ["labs.lua"] = list }, function(run)
        _, output = run "batch labs.lua --dry-run --sandbox off"
      end)
      return words(output:match "1%. s on (%l+:%w+)", (output:match "2%. s on (%l+:%w+)"))
    end
    assert.are.equal("cuda:check cuda:0", devices '"cuda"')
    assert.are.equal("cpu:check cuda:0", devices '{ "cuda", "cpu" }')
  end)
end)
