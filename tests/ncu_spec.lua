-- SPDX-License-Identifier: MIT
--
-- Structural counters of a GPU: what is made of the pages of ncu's reports (tests/check/ncu), and how ncu is run, by a
-- stand-in over the fake driver. $MOONWARP_PROGRAM is what was built.

local fake = require "tests.fake"
local files = require "moonwarp.base.files"
local json = require "moonwarp.base.json"
local labs = require "tests.labs"
local lists = require "moonwarp.base.lists"
local report = require "moonwarp.measure.ncu_report"
local support = require "tests.support"
local core = support.core

local RECORDED <const> = core.home() .. "/tests/check/ncu"

local function page(name)
  return files.read(("%s/%s.csv"):format(RECORDED, name))
end

local function has(output, text)
  assert.is_truthy(output:find(text, 1, true), ("'%s' is not in\n%s"):format(text, output))
end

-- "load_requests 2, load_sectors 8": all that is counted, by name.
local function counted(one)
  return table.concat(lists.map(lists.keys(one), function(name)
    return math.type(one[name]) == "integer" and name ~= "line" and ("%s %d"):format(name, one[name]) or nil
  end), ", ")
end

local function lines_of(launch)
  return table.concat(lists.map(launch.lines, function(line)
    return ("%s:%d %s"):format(line.file, line.line, counted(line))
  end), "\n")
end

-- ---- reports ------------------------------------------------------------------------------------

describe("a report of ncu", function()
  local launches, problem = report.read(page "raw", page "sass", page "lines")

  it("is read by launches", function()
    assert.is_nil(problem)
    assert.are.same({ "transpose", "scaled<float, 3>", "transpose" },
      lists.map(launches, function(one) return one.kernel end))
    assert.are.same({ { 2, 2, 1 }, { 32, 8, 1 }, "0", "ncu" },
      { launches[1].grid, launches[1].block, launches[1].device, launches[1].source })
    assert.are.same(launches[1], launches[3])
  end)

  it("has totals from the metrics of a launch, and lanes and barriers from its instructions", function()
    assert.are.equal("atomic_requests 0, barriers 32, lanes 16384, load_requests 128, load_sectors 512, requests 512, "
      .. "shared_atomic_requests 0, shared_load_conflicts 3970, shared_load_requests 128, shared_load_wavefronts 4098, "
      .. "shared_store_conflicts 0, shared_store_requests 128, shared_store_wavefronts 128, store_requests 128, "
      .. "store_sectors 512", counted(launches[1]))
    assert.are.equal("atomic_requests 1, barriers 0, lanes 152, load_requests 2, load_sectors 8, requests 5, "
      .. "shared_atomic_requests 0, shared_load_conflicts 0, shared_load_requests 0, shared_load_wavefronts 0, "
      .. "shared_store_conflicts 0, shared_store_requests 0, shared_store_wavefronts 0, store_requests 2, "
      .. "store_sectors 5", counted(launches[2]))
  end)

  it("has lines, whose instructions are told apart", function()
    assert.are.equal([[
/tmp/a/k.cu:4 lanes 8192, load_requests 128, load_sectors 512, requests 256, shared_store_conflicts 0, ]]
      .. [[shared_store_requests 128, shared_store_wavefronts 128
/tmp/a/k.cu:5 barriers 32
/tmp/a/k.cu:7 lanes 8192, requests 256, shared_load_conflicts 3968, shared_load_requests 128, ]]
      .. [[shared_load_wavefronts 4096, store_requests 128, store_sectors 512]], lines_of(launches[1]))
  end)

  it("has no request of an instruction that all lanes skip, or of local memory", function()
    assert.are.equal([[
/tmp/a/k.cu:12 lanes 44, load_requests 2, load_sectors 8, requests 2
/tmp/a/k.cu:13 lanes 44, requests 2, store_requests 2, store_sectors 5
/tmp/a/k.cu:14 atomic_requests 1, lanes 20, requests 1
/tmp/a/k.cu:15 lanes 44, requests 2, shared_store_conflicts 0, shared_store_requests 2, shared_store_wavefronts 2]],
      lines_of(launches[2]))
  end)

  it("leaves out what was not measured", function()
    local list = report.read(page "raw":gsub('"4,098"', '"n/a"'), page "sass", page "lines")
    assert.are.equal(3970, list[1].shared_load_conflicts)
    assert.is_nil(list[1].shared_load_wavefronts)
    local older = page("raw"):gsub("smsp__inst_executed_op_shared_ld", "of_another_version")
    list = report.read(older, page "sass", page "lines")
    assert.are.same({ 16384 }, { list[1].lanes, list[1].requests })
    assert.is_nil((require "moonwarp.measure.counters".value(list[1], "lanes_per_request")))
  end)

  it("of an older version has no shapes in columns of their own", function()
    local names = { "ID", "Process ID", "Kernel Name" }
    for axis in ("xyz"):gmatch "." do
      lists.append(names, { "launch__grid_dim_" .. axis, "launch__block_dim_" .. axis })
    end
    local raw = '"' .. table.concat(names, '","') .. '"\n"","","","","block","","block","","block"\n'
      .. '"0","2489696","k(int, double3 *)","4,096","256","2","1","1","1"'
    local one = report.read(raw, "", "")[1]
    assert.are.same({ "k", { 4096, 2, 1 }, { 256, 1, 1 } }, { one.kernel, one.grid, one.block })
  end)

  it("without lines has totals", function()
    local list = assert(report.read(page "raw", page "sass", "==WARNING== Unable to open source file"))
    assert.are.same({ 512, 16384, {} }, { list[1].load_sectors, list[1].lanes, list[1].lines })
  end)

  it("has lines of instructions that are listed by the function which was inlined", function()
    local other = page("lines"):gsub('Function Name","transpose%b()', 'Function Name","index(int)')
    assert.are.equal(lines_of(launches[1]), lines_of(report.read(page "raw", page "sass", other)[1]))
  end)

  it("has no lines of instructions that are of two", function()
    local other = page("lines"):gsub("/tmp/a/k%.cu", "/tmp/b/k.cu")
    local list = assert(report.read(page "raw", page "sass", page "lines" .. "\n" .. other))
    assert.are.same({ 16384, {} }, { list[1].lanes, list[1].lines })
  end)

  it("is taken without lines if its pages differ", function()
    for wanted, sass in pairs {
      ["its page 'source' has 2 launches, its page 'raw' 3: lines are not known"] = page "sass":match "^(.*)\n\n",
      ["its page 'source' has 0 launches, its page 'raw' 3: lines are not known"] = "garbage\n\"\"\"\"\n",
      ["its page 'source' has 3 launches, its page 'raw' 3: lines are not known"] =
        page("sass"):gsub('Name","transpose', 'Name","other'),
    } do
      local list, why = report.read(page "raw", sass, page "lines")
      assert.are.equal(wanted, why)
      assert.are.same({ 512, {} }, { list[1].load_sectors, list[1].lines })
      assert.is_nil(list[1].lanes)
    end
  end)

  it("is rejected if a launch is cut off", function()
    local list, why = report.read(page("raw"):sub(1, -40), page "sass", page "lines")
    assert.is_nil(list)
    assert.are.equal("a row of its page 'raw' is not whole", why)
    assert.are.equal("its page 'raw' has no table", (select(2, report.read("==ERROR== No report", "", ""))))
  end)
end)

-- ---- runs ---------------------------------------------------------------------------------------

if not fake.is_possible() then
  pending("the fake driver needs a C compiler and its sources")
  return
end

-- Runs in a folder with the files, on a machine that seems to have a GPU; run(line, environment) gives status and
-- output.
local function with(list, body)
  support.with_folder(function(folder)
    for name, text in pairs(list) do support.write(folder .. "/" .. name, text) end
    body(function(line, environment)
      return labs.shell(("cd %s && PATH=%s:$PATH MOONWARP_LIBCUDA=%s MOONWARP_LIBNVML=%s MOCK_CUDA_LEAKS=1 %s %s %s "
        .. "</dev/null"):format(labs.quoted(folder), labs.quoted(RECORDED), fake.library(), fake.library(),
        environment or "", labs.quoted(labs.program), line))
    end, folder)
  end)
end

local SCRIPT <const> = [[
local mw = require "moonwarp"
mw.arg("n", 1, "a number")
local dev = mw.device()
local m = dev:module { name = "k.cu", source = "\n\n\n__global__ void transpose(int *a) { a[0] = 1; }\n\n\n  a[1];" }
print(dev:id(), dev:properties().checks, table.concat(arg, "|"), #mw.counters(), mw.bench(function() end).n > 0)
]]

local REPORT <const> = "STAND_IN_REPORT=" .. labs.quoted(RECORDED)

local function record_in(folder)
  return assert(json.decode(support.read(support.run(folder .. "/out") .. "/record.json")))
end

describe("counters of a GPU", function()
  it("are of the script under ncu, which then runs by itself", function()
    with({ ["s.lua"] = SCRIPT }, function(run, folder)
      local status, output = run("run s.lua --counters -p n=1,2 -- a 'b c'", REPORT .. " STAND_IN_CALLS=calls")
      assert.are.equal(0, status, output)
      has(output, "cuda:0\tfalse\ta|b c\t2\ttrue\n")
      assert.is_nil(output:find("check mode", 1, true), output)
      local calls = files.read(folder .. "/calls")
      assert.are.equal(4, select(2, calls:gsub("\n", "")))
      has(calls, " --clock-control none ")
      has(calls, " --kernel-name regex:^(?!(void )?moonwarp::) ")
      has(calls, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")
      local words = " run s.lua %-p n=1,2 %-%-counters %-%-quiet %-%-out %S+/out %-%- a b c\n"
      assert.is_truthy(calls:find(words), calls)
      local scratch = calls:match "%-%-log%-file (%S+)/log "
      assert.is_nil(require("lfs").attributes(scratch))
    end)
  end)

  it("are asked for under ncu too, so that a study takes the cases that it has for them", function()
    with({ ["s.lua"] = SCRIPT .. [[local file <close> = io.open("seen", "a")
      file:write(tostring(require "moonwarp.session".current.checking.counters), "\n")]] }, function(run, folder)
      local status, output = run("run s.lua --counters", REPORT)
      assert.are.equal(0, status, output)
      assert.are.equal("true\ntrue\n", files.read(folder .. "/seen"))
    end)
  end)

  it("are in the run's record, with the names and texts of lines", function()
    with({ ["s.lua"] = SCRIPT .. 'mw.remark "done"' }, function(run, folder)
      local status, output = run("run s.lua --counters", REPORT)
      assert.are.equal(0, status, output)
      has(output, "transpose")
      local found = record_in(folder).counters
      assert.are.equal(2, #found)
      local first = found[1]
      assert.are.same({ "transpose", "cuda:0", "ncu", 2 },
        { first.kernel, first.device, first.source, first.launches })
      assert.are.same({ 1024, 4 }, { first.load_sectors, first.load_sectors_per_request })
      assert.are.same({ "k.cu", 7, "a[1];", 7936 },
        { first.lines[3].file, first.lines[3].line, first.lines[3].text, first.lines[3].shared_load_conflicts })
    end)
  end)

  it("are those that the script has had time for", function()
    with({ ["s.lua"] = SCRIPT .. 'if os.getenv "NV_COMPUTE_PROFILER_PERFWORKS_DIR" then error "enough" end' },
      function(run)
        local status, output = run("run s.lua --counters", REPORT)
        assert.are.equal(0, status, output)
        has(output, "note: the script failed under ncu (exit status 1):\n")
        has(output, "s.lua:6: enough\n")
        has(output, "cuda:0\tfalse\t\t2\ttrue\n")
      end)
  end)

  it("are none of a script that launches nothing, or whose checks fail", function()
    with({ ["s.lua"] = SCRIPT, ["c.lua"] = SCRIPT .. "mw.check(dev:zeros('f32', 1), { 2 })" }, function(run)
      local status, output = run "run s.lua --counters"
      assert.are.equal(0, status, output)
      has(output, "cuda:0\tfalse\t\t0\ttrue\n")
      status, output = run("run c.lua --counters", REPORT)
      assert.are.equal(3, status, output)
      assert.is_nil(output:find("note:", 1, true), output)
    end)
  end)

  for why, case in pairs {
    ["says that it may not"] = {
      "STAND_IN_LOG='==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance "
      .. "Counters on the target device 0.'",
      "counters: ncu may not read the counters of the GPU (ERR_NVGPUCTRPERM): run as root, or load the driver with "
      .. "NVreg_RestrictProfilingToAdminUsers=0, or count on the CPU device with --device cpu\n" },
    ["says what it could not do"] = { "STAND_IN_LOG='==ERROR== Failed to initialize the profiler: LibraryNotLoaded'",
      "counters: ncu: Failed to initialize the profiler: LibraryNotLoaded\n" },
    ["is a placeholder"] = { "STAND_IN_STATUS=0",
      "counters: ncu could not run (exit status 0):\n  Nsight Compute is not installed\n" },
    ["cannot start"] = { "STAND_IN_STATUS=255",
      "counters: ncu could not run (exit status 255):\n  Nsight Compute is not installed\n" },
    ["is killed"] = { "STAND_IN_KILLED=1", "counters: the script failed under ncu (signal 9):\n" },
    ["writes nothing"] = { "STAND_IN_HANGS=1 MOONWARP_NCU_SILENCE=0.5",
      "counters: ncu could not run (nothing written for 0.5 s)" },
  } do
    it("end the run if ncu " .. why, function()
      with({ ["s.lua"] = SCRIPT }, function(run)
        local status, output = run("run s.lua --counters", case[1])
        assert.are.equal(1, status, output)
        has(output, case[2])
      end)
    end)
  end

  it("are kept if ncu could not count all of them", function()
    with({ ["s.lua"] = SCRIPT }, function(run)
      local error = " STAND_IN_LOG='==ERROR== Failed to profile \"k\"'"
      local status, output = run("run s.lua --counters", REPORT .. error)
      assert.are.equal(0, status, output)
      has(output, 'note: ncu: Failed to profile "k"\n')
      has(output, "cuda:0\tfalse\t\t2\ttrue\n")
    end)
  end)

  it("of a report that is cut off are an error", function()
    with({ ["s.lua"] = SCRIPT, ["raw.csv"] = page("raw"):sub(1, -40) }, function(run, folder)
      local status, output = run("run s.lua --counters", "STAND_IN_REPORT=.")
      assert.are.equal(1, status, output)
      has(output, "counters: the report of ncu: a row of its page 'raw' is not whole\n")
      os.remove(folder .. "/raw.csv")
      status, output = run("run s.lua --counters", "STAND_IN_REPORT=.")
      assert.are.equal(1, status, output)
      has(output, "counters: the report of ncu: its page 'raw' has no table\n")
    end)
  end)

  it("leave the report where it is asked for, and take no older one", function()
    with({ ["s.lua"] = SCRIPT, ["kept.ncu-rep"] = "of an earlier run" }, function(run, folder)
      local status, output = run("run s.lua --counters", "MOONWARP_NCU_REPORT=kept.ncu-rep " .. REPORT)
      assert.are.equal(0, status, output)
      assert.are.equal(RECORDED .. "\n", files.read(folder .. "/kept.ncu-rep"))
      status, output = run("run s.lua --counters", "MOONWARP_NCU_REPORT=kept.ncu-rep")
      assert.are.equal(0, status, output)
      has(output, "cuda:0\tfalse\t\t0\ttrue\n")
      assert.is_false(files.exists(folder .. "/kept.ncu-rep"))
    end)
  end)

  it("need a script of the program", function()
    local stock = support.stock_interpreter()
    if not stock then return end
    local _, output = support.child([[
      print(pcall(require "moonwarp".device, "cuda", { check = { counters = true } }))]], { lua = stock, env = {
      MOONWARP_LIBCUDA = fake.library(), MOONWARP_LIBNVML = fake.library(), MOCK_CUDA_LEAKS = 1 } })
    has(output, "counters of device 'cuda' are of a whole script under ncu: write one")
  end)

  it("end with all processes at Ctrl-C, and leave nothing", function()
    with({ ["s.lua"] = SCRIPT }, function(_, folder)
      local status, output = support.signalled(("cd %s; PATH=%s:$PATH MOONWARP_LIBCUDA=%s MOONWARP_LIBNVML=%s "
        .. "STAND_IN_CALLS=calls STAND_IN_HANGS=1 exec %s run s.lua --counters"):format(labs.quoted(folder),
        labs.quoted(RECORDED), fake.library(), fake.library(), labs.quoted(labs.program)), "INT",
        { "[ -s " .. labs.quoted(folder) .. "/calls ]" })
      assert.are.equal(130, status, output)
      local scratch = files.read(folder .. "/calls"):match "%-%-log%-file (%S+)/log "
      assert.is_nil(require("lfs").attributes(scratch))
    end)
  end)
end)

describe("without ncu", function()
  if files.exists "/usr/local/cuda/bin/ncu" or files.exists "/opt/nvidia/nsight-compute"
    or labs.shell "command -v ncu" == 0 then
    pending("it is installed here")
    return
  end
  local NONE <const> = "PATH=/usr/bin:/bin CUDA_HOME= CUDA_PATH="

  it("the CPU device counts", function()
    with({}, function(run)
      local status, output = run("-e 'print(mw.device():id())' --counters", NONE)
      assert.are.equal(0, status, output)
      has(output, "note: ncu was not found; the CPU device counts\n")
      has(output, "cpu:check\n")
    end)
  end)

  it("a GPU that was asked for is an error", function()
    with({}, function(run)
      local status, output = run("-e 'print(mw.device():id())' --counters --device cuda", NONE)
      assert.are.equal(1, status, output)
      has(output, "counters of device 'cuda' need ncu, which is neither on $PATH nor in bin of $CUDA_HOME, $CUDA_PATH "
        .. "or /usr/local/cuda, nor in /opt/nvidia/nsight-compute: install Nsight Compute, or use --device cpu")
    end)
  end)
end)

describe("ncu that the user has started", function()
  it("leaves nothing to be timed", function()
    local script = [[local mw = require "moonwarp"
      local dev = mw.device()
      print(dev:id(), dev:properties().checks, mw.bench(function() dev:synchronize() end).n)]]
    with({ ["s.lua"] = script }, function(run)
      local status, output = run("run s.lua", "NV_COMPUTE_PROFILER_PERFWORKS_DIR=/nowhere")
      assert.are.equal(0, status, output)
      has(output, "note: under ncu nothing is timed, and it reports itself what it finds\n")
      has(output, "cuda:0\ttrue\t0\n")
    end)
  end)
end)
