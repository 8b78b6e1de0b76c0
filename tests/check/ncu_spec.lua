-- SPDX-License-Identifier: MIT
--
-- Structural counters of a GPU: what is made of the pages of ncu's reports (tests/check/ncu), and how ncu is run, by a
-- stand-in over the fake driver. $MOONWARP_PROGRAM is what was built.

local fake = require "tests.support.fake"
local files = require "moonwarp.base.files"
local json = require "moonwarp.base.json"
local labs = require "tests.support.labs"
local lists = require "moonwarp.base.lists"
local report = require "moonwarp.tools.ncu_report"
local support = require "tests.support"
local core = support.core
local counters = require "moonwarp.measure.counters"

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

-- The same of lines, but for what is 0.
local function lines_of(launch)
  return table.concat(lists.map(launch.lines, function(line)
    local some = {}
    for name, value in pairs(line) do some[name] = value ~= 0 and value or nil end
    return ("%s:%d %s"):format(line.file, line.line, counted(some))
  end), "\n")
end

-- ---- reports ------------------------------------------------------------------------------------

-- The pages in tests/check/ncu are of ncu 2025.3 on an H200, of kernels of tests/kernels/counters.cu: transpose, two
-- launches of histogram_shared, and stencil_shared; without NOPs, and cut to the metrics that are asked for.
describe("a report of ncu", function()
  local launches, problem = report.read(page "raw", page "sass", page "lines")

  it("is read by launches, of which ncu prints some tables twice", function()
    assert.is_nil(problem)
    assert.are.same({ "transpose<in_rows>", "histogram_shared", "histogram_shared", "stencil_shared" },
      lists.map(launches, function(one) return one.kernel end))
    assert.are.same({ { 8, 8, 1 }, { 32, 8, 1 }, "0", "ncu" },
      { launches[1].grid, launches[1].block, launches[1].device, launches[1].source })
    assert.are.equal(lines_of(launches[2]), lines_of(launches[3]))
  end)

  it("has totals from the metrics of a launch, and lanes and barriers from its instructions", function()
    assert.are.equal("atomic_lanes 0, atomic_requests 0, barriers 512, instructions 47616, lanes 262144, "
      .. "load_lane_bytes 262144, load_requests 2048, load_sectors 8192, requests 8192, shared_atomic_requests 0, "
      .. "shared_load_conflicts 63488, shared_load_requests 2048, shared_load_wavefronts 65536, "
      .. "shared_store_conflicts 0, shared_store_requests 2048, shared_store_wavefronts 2048, "
      .. "store_lane_bytes 262144, store_requests 2048, store_sectors 8192",
      counted(launches[1]))
  end)

  it("has lines, whose instructions are told apart", function()
    assert.are.equal([[
/tmp/a/counters.cu:119 lanes 131072, load_lane_bytes 262144, load_requests 2048, load_sectors 8192, ]]
      .. [[requests 4096, shared_store_requests 2048, shared_store_wavefronts 2048
/tmp/a/counters.cu:120 barriers 512
/tmp/a/counters.cu:123 lanes 131072, requests 4096, shared_load_conflicts 63488, shared_load_requests 2048, ]]
      .. [[shared_load_wavefronts 65536, store_lane_bytes 262144, store_requests 2048, store_sectors 8192]],
      lines_of(launches[1]))
    assert.are.equal([[
/tmp/a/counters.cu:157 lanes 16384, load_lane_bytes 32768, load_requests 256, load_sectors 1280, ]]
      .. [[requests 512, shared_store_requests 256, shared_store_wavefronts 256
/tmp/a/counters.cu:158 lanes 64, load_lane_bytes 128, load_requests 256, load_sectors 32, requests 512, ]]
      .. [[shared_store_requests 256, shared_store_wavefronts 32
/tmp/a/counters.cu:159 lanes 64, load_lane_bytes 128, load_requests 256, load_sectors 32, requests 512, ]]
      .. [[shared_store_requests 256, shared_store_wavefronts 32
/tmp/a/counters.cu:160 barriers 256
/tmp/a/counters.cu:161 lanes 32768, requests 1024, shared_load_requests 768, ]]
      .. [[shared_load_wavefronts 768, store_lane_bytes 32768, store_requests 256, store_sectors 1024]],
      lines_of(launches[4]))
  end)

  -- Of the first launch, with its unit.
  local function with_columns(columns)
    local names = lists.keys(columns)
    local at = 0
    return (page("raw"):gsub("[^\n]+", function(line)
      at = at + 1
      for _, name in ipairs(names) do
        line = line .. (',"%s"'):format(at == 1 and name or at == 2 and columns[name][1] or columns[name][2])
      end
      return line
    end))
  end

  it("has what the hardware counts, in base units, and metrics that were asked for", function()
    local list = report.read(with_columns {
      ["gpu__time_duration.sum"] = { "ns", "6,944" }, ["dram__bytes_read.sum"] = { "byte", "1024" },
      ["lts__t_sectors_srcunit_tex_op_write.sum"] = { "sector", "10" },
      ["lts__t_sectors_srcunit_tex_op_red.sum"] = { "sector", "2" },
      ["lts__t_sectors_srcunit_tex_op_atom.sum"] = { "sector", "n/a" },
      ["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] = { "inst", "100" },
      ["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"] = { "inst", "30" },
      ["smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"] = { "inst", "1" },
      ["launch__registers_per_thread"] = { "register/thread", "24" },
      ["sm__throughput.avg.pct"] = { "%", "12.5" }, ["sm__x.sum"] = { "", "3" },
    }, page "sass", page "lines", { "sm__throughput.avg.pct", "sm__x.sum" })
    local one = list[1]
    assert.are.same({ 1024, 384, 100, 24 }, { one.dram_read_bytes, one.l2_write_bytes, one.f32_fma, one.registers })
    assert.is_near(6.944e-6, one.duration, 1e-12)
    assert.is_nil(one.dram_write_bytes)
    assert.are.equal(231, counters.value(one, "f32_operations"))
    assert.is_nil((counters.value(one, "dram_bytes")))
    local row = counters.by_configuration { list[2], list[3] }[1]
    assert.is_nil(row.varies)
    list[3].instructions = 2 * list[3].instructions
    assert.is_true(counters.by_configuration({ list[2], list[3] })[1].varies)
    assert.are.same({ 2, 2048, 24, { ["sm__throughput.avg.pct"] = 12.5, ["sm__x.sum"] = 6 } },
      { row.launches, row.dram_read_bytes, row.registers, row.metrics })
  end)

  it("has the time of a kernel in the unit that ncu prints", function()
    local raw = with_columns { ["gpu__time_duration.sum"] = { "usecond", "2" } }
    local list = report.read(raw, page "sass", page "lines")
    assert.is_near(2e-6, list[1].duration, 1e-12)
  end)

  it("leaves out what was not measured", function()
    local list = report.read(page "raw":gsub('"65536"', '"n/a"'), page "sass", page "lines")
    assert.are.equal(63488, list[1].shared_load_conflicts)
    assert.is_nil(list[1].shared_load_wavefronts)
    local older = page("raw"):gsub("smsp__sass_inst_executed_op_shared_ld", "of_another_version")
    list = report.read(older, page "sass", page "lines")
    assert.are.same({ 262144 }, { list[1].lanes, list[1].requests })
    assert.is_nil((require "moonwarp.measure.counters".value(list[1], "lanes_per_request")))
  end)

  it("without lines has totals", function()
    local list, why = report.read(page "raw", page "sass", "==WARNING== Unable to open source file")
    assert.are.equal("its page 'source' has no lines: cubins and PTX have them with nvcc's option -lineinfo", why)
    assert.are.same({ 8192, 262144, {} }, { list[1].load_sectors, list[1].lanes, list[1].lines })
  end)

  it("is taken without lines if its pages differ", function()
    local last = page("sass"):find '"Kernel Name","stencil'
    for name, sass in pairs {
      ["a launch has no table"] = page("sass"):sub(1, last - 1),
      ["nothing was printed"] = "garbage\n\"\"\"\"\n",
      ["another kernel"] = page("sass"):gsub('Name","stencil', 'Name","other'),
      ["other figures"] = page("sass"):gsub('ATOMS.POPC.INC.32 RZ, %[R4%+URZ%]","256"', 'ATOMS RZ, [R4]","255"'),
      ["a table too few"] = page("sass"):gsub('"Kernel Name","histogram.-("Kernel Name","s)', "%1"),
    } do
      local list, why = report.read(page "raw", sass, page "lines")
      assert.are.equal("the launches of its page 'source' are not those of its page 'raw': lines are not known", why,
        name)
      assert.are.same({ 8192, {} }, { list[1].load_sectors, list[1].lines })
      assert.is_nil(list[1].lanes)
    end
  end)

  it("is rejected if a launch is cut off", function()
    for cut = 2, 40, 19 do
      local list, why = report.read(page("raw"):sub(1, -cut - 1), page "sass", page "lines")
      assert.is_nil(list)
      assert.are.equal("a row of its page 'raw' is not whole", why)
    end
    for _, raw in ipairs { "==ERROR== No report", (page("raw"):gsub('"Kernel Name"', '"Kernel"')) } do
      assert.are.equal("its page 'raw' has no table", (select(2, report.read(raw, "", ""))))
    end
  end)
end)

-- The pages of one launch of "scaled<float, 3>", as ncu prints them: its instructions are lists of SASS, the metrics
-- inst_executed, memory_l1_wavefronts_shared, ..._ideal, memory_l2_theoretical_sectors_global and
-- thread_inst_executed_true, and the lines { file, number } that it is listed under.
local function pages_of(instructions)
  local METRICS <const> = { "inst_executed", "memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal",
                            "memory_l2_theoretical_sectors_global", "thread_inst_executed_true" }
  local sums, sass, tables = { 0, 0, 0, 0, 0 }, {}, {}
  local function row(...) return '"' .. table.concat({ ... }, '","') .. '"\n' end
  for at, one in ipairs(instructions) do
    local fields = { ("0x7f3d64fb%04x"):format(16 * at), one[1], table.unpack(one, 2, 6) }
    for i = 1, 5 do sums[i] = sums[i] + one[i + 1] end
    sass[at] = row(table.unpack(fields))
    for _, place in ipairs(one.lines) do -- a table for each file
      local list = lists.entry(tables, tables, place[1], { row("File Path", place[1]),
        row("Function Name", "void scaled<float, (int)3>(T1 *)"),
        row("Line No", "Source", "Address", "Source", table.unpack(METRICS)) })
      lists.append(list, { row(place[2], "text", "-", "-", 0, 0, 0, 0, 0), row("", "", table.unpack(fields)) })
    end
  end
  local lines = lists.map(tables, function(list) return table.concat(list) end)
  local raw = row("ID", "Kernel Name", "Block Size", "Grid Size", table.unpack(METRICS))
    .. row("", "", "", "", "inst", "", "", "sectors", "")
    .. row("0", "void scaled<float, 3>(T1 *)", "(64, 1, 1)", "(1, 1, 1)", table.unpack(sums))
  return raw, row("Kernel Name", "void scaled<float, (int)3>(T1 *)", "") .. row("Address", "Source",
    table.unpack(METRICS)) .. table.concat(sass), table.concat(lines)
end

local function only(...)
  local list, problem = report.read(pages_of { ... })
  assert.is_nil(problem)
  assert.are.equal(1, #list)
  return list[1]
end

describe("an instruction of a report", function()
  local K <const> = "/tmp/a/k.cu"

  it("is of the inner line if a function was inlined", function()
    local H <const> = "/tmp/a/part.cuh"
    local launch = only({ "      S2R R0, SR_TID.X", 1, 0, 0, 0, 32, lines = { { K, 20 } } },
      { "      LDG.E R4, desc[UR4][R2.64]", 1, 0, 0, 4, 32, lines = { { K, 8 }, { K, 22 } } },
      { "      LDG.E R5, desc[UR4][R2.64+0x10]", 1, 0, 0, 5, 32, lines = { { K, 23 }, { H, 3 }, { H, 9 } } },
      { "      STG.E desc[UR4][R6.64], R4", 1, 0, 0, 6, 32, lines = { { K, 24 } } })
    assert.are.same({ { K, 8, 4 }, { K, 24, 6 }, { H, 3, 5 } }, lists.map(launch.lines, function(line)
      return { line.file, line.line, line.load_sectors + line.store_sectors }
    end))
  end)

  it("has its line in a source whose lines end as on Windows", function()
    local raw, sass, lines = pages_of { { "      LDG.E R4, desc[UR4][R2.64]", 1, 0, 0, 4, 32, lines = { { K, 8 } } } }
    local list = report.read(raw, sass, (lines:gsub('"text"', '"text\r"')))
    assert.are.same({ 8 }, lists.map(list[1].lines, function(line) return line.line end))
    list = report.read(raw:gsub("\n", "\r\n"), sass:gsub("\n", "\r\n"), (lines:gsub("\n", "\r\n")))
    assert.are.same({ 8 }, lists.map(list[1].lines, function(line) return line.line end))
  end)

  it("has no line if it is of two in several launches", function()
    local raw, sass, lines = pages_of { { "      LDG.E R4, desc[UR4][R2.64]", 1, 0, 0, 4, 32, lines = { { K, 8 } } } }
    local other = lines:gsub('"8"', '"9"')
    assert.are.equal(1, #report.read(raw, sass, lines .. lines)[1].lines)
    assert.are.same({}, report.read(raw, sass, lines .. other)[1].lines)
    assert.are.same({}, report.read(raw, sass, lines .. lines:gsub("k%.cu", "j.cu") .. lines)[1].lines)
  end)

  it("has no request if all lanes skip it, or if it is of local memory", function()
    local launch = only({ "@P0   EXIT", 2, 0, 0, 0, 20, lines = { { K, 11 } } },
      { "@!P1  LDG.E R5, desc[UR4][R2.64+0x4]", 2, 0, 0, 0, 0, lines = { { K, 13 } } },
      { "      STG.E.128 desc[UR4][R6.64], R4", 2, 0, 0, 5, 44, lines = { { K, 13 } } },
      { "@!UP2 REDG.E.ADD.STRONG.GPU desc[UR4][R8.64], R9", 1, 0, 0, 4, 20, lines = { { K, 14 } } },
      { "      LD.E R1, desc[UR4][R10.64]", 2, 0, 0, 0, 44, lines = { { K, 15 } } },
      { "      ST.E desc[UR4][R10.64], R1", 2, 3, 2, 0, 44, lines = { { K, 15 } } })
    assert.are.equal("scaled<float, 3>", launch.kernel)
    assert.are.same({ 108, 0 }, { launch.lanes, launch.barriers })
    assert.are.equal([[
/tmp/a/k.cu:13 lanes 44, requests 2, store_lane_bytes 704, store_requests 2, store_sectors 5
/tmp/a/k.cu:14 atomic_lanes 20, atomic_requests 1, lanes 20, requests 1
/tmp/a/k.cu:15 lanes 44, requests 2, shared_store_conflicts 1, shared_store_requests 2, shared_store_wavefronts 3]],
      lines_of(launch))
  end)
end)

describe("a launch of an older report", function()
  it("has no shapes in columns of their own", function()
    local names = { "ID", "Process ID", "Kernel Name" }
    for axis in ("xyz"):gmatch "." do
      lists.append(names, { "launch__grid_dim_" .. axis, "launch__block_dim_" .. axis })
    end
    local raw = '"' .. table.concat(names, '","') .. '"\n"","","","","block","","block","","block"\n'
      .. '"0","2489696","k(int, double3 *)","4,096","256","2","1","1","1"'
    local one = report.read(raw, "", "")[1]
    assert.are.same({ "k", { 4096, 2, 1 }, { 256, 1, 1 } }, { one.kernel, one.grid, one.block })
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
local m = dev:module { name = "counters.cu",
  source = ("\n"):rep(118) .. "__global__ void transpose(int *a) { a[0] = 1; }\n\n\n\n  a[1];" }
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
      has(output, "cuda:0\tfalse\ta|b c\t3\ttrue\n")
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

  -- ncu takes options from it, of which some name what it runs. An older one knows no such file, nor the option.
  it("are not of the options that a file of the working folder has", function()
    with({ ["s.lua"] = SCRIPT, ["config.ncu-cfg"] = "[Launch-and-attach]\n--apply-rules\n" }, function(run, folder)
      local status, output = run("run s.lua --counters", REPORT .. " STAND_IN_CALLS=calls")
      assert.are.equal(0, status, output)
      local calls = files.read(folder .. "/calls")
      assert.are.equal(4, select(2, calls:gsub("%-%-config%-file off ", "")), calls)
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
      has(output, "transpose<in_rows>")
      local found = record_in(folder).counters
      assert.are.same({ 1, 2, 1 }, lists.map(found, function(one) return one.launches end))
      local first = found[1]
      assert.are.same({ "transpose<in_rows>", "cuda:0", "ncu", 1 },
        { first.kernel, first.device, first.source, first.launches })
      assert.are.same({ 8192, 4 }, { first.load_sectors, first.load_sectors_per_request })
      assert.are.same({ "counters.cu", 123, "a[1];", 63488 },
        { first.lines[3].file, first.lines[3].line, first.lines[3].text, first.lines[3].shared_load_conflicts })
      assert.are.same({ 31, 0 }, { counters.value(first.lines[3], "shared_conflicts_per_request"),
        first.lines[1].shared_load_conflicts })
    end)
  end)

  it("are those that the script has had time for", function()
    with({ ["s.lua"] = SCRIPT .. 'if os.getenv "NV_COMPUTE_PROFILER_PERFWORKS_DIR" then error "enough" end' },
      function(run)
        local status, output = run("run s.lua --counters", REPORT)
        assert.are.equal(0, status, output)
        has(output, "note: the script failed under ncu (exit status 1):\n")
        has(output, "s.lua:7: enough\n")
        has(output, "cuda:0\tfalse\t\t3\ttrue\n")
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

  it("are those of the metrics that ncu knows", function()
    with({ ["s.lua"] = SCRIPT }, function(run, folder)
      local status, output = run("run s.lua --counters=sm__mine.avg",
        REPORT .. " STAND_IN_CALLS=calls STAND_IN_UNKNOWN=dram__bytes_read.sum")
      assert.are.equal(0, status, output)
      has(output, "note: left out, since ncu does not know them: dram__bytes_read.sum\n")
      has(output, "cuda:0\tfalse\t\t3\ttrue\n")
      local first, second = files.read(folder .. "/calls"):match "([^\n]*)\n([^\n]*)"
      has(first, "dram__bytes_read.sum")
      has(second, "dram__bytes_write.sum")
      has(second, ",sm__mine.avg ")
      assert.is_nil(second:find("dram__bytes_read", 1, true))
      status, output = run("run s.lua --counters", REPORT .. " STAND_IN_UNKNOWN=any")
      assert.are.equal(0, status, output)
      has(output, "note: left out, since ncu does not know them: gpu__time_duration.sum, ")
      status, output = run "run s.lua '--counters=a b'"
      assert.are.equal(2, status, output)
      has(output, "option '--counters': metrics of ncu are names as dram__bytes.sum, got 'a b'\n")
    end)
  end)

  it("are kept if ncu could not count all of them", function()
    with({ ["s.lua"] = SCRIPT }, function(run)
      local error = " STAND_IN_LOG='==ERROR== Failed to profile \"k\"'"
      local status, output = run("run s.lua --counters", REPORT .. error)
      assert.are.equal(0, status, output)
      has(output, 'note: ncu: Failed to profile "k"\n')
      has(output, "cuda:0\tfalse\t\t3\ttrue\n")
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
      status, output = run("run s.lua --counters", "MOONWARP_NCU_REPORT=none/kept " .. REPORT)
      assert.are.equal(1, status, output)
      has(output, "counters: MOONWARP_NCU_REPORT: none/kept.ncu-rep: No such file or directory\n")
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
