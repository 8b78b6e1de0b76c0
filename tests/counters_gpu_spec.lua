-- SPDX-License-Identifier: MIT
--
-- The comparison of a GPU's counters with the CPU device's (tests/check/counters_gpu.lua), over the fake driver: the
-- stand-in for ncu prints what the CPU device has counted. $MOONWARP_PROGRAM is what was built.

local cases = require "tests.counters_cases"
local core = require "moonwarp.core"
local fake = require "tests.fake"
local labs = require "tests.labs"
local lists = require "moonwarp.base.lists"
local report = require "moonwarp.tools.ncu_report"
local support = require "tests.support"
local mw = support.mw
local project = require "tests.counters_project"

local KERNELS <const> = core.home() .. "/tests/kernels/counters.cu"
local STAND_IN <const> = core.home() .. "/tests/check/ncu"
local OPCODES <const> = { load = "LDG.E", store = "STG.E", shared_load = "LDS", shared_store = "STS",
                          atomic = "REDG.E.ADD", shared_atomic = "ATOMS.ADD" }

if not fake.is_possible() or not support.has_nvrtc() then
  pending("needs a C compiler, the sources of the fake driver and NVRTC")
  return
end

local function row_of(fields)
  return '"' .. table.concat(lists.map(fields, tostring), '","') .. '"\n'
end

-- ---- the pages of a report ----------------------------------------------------------------------

local METRICS <const> = {
  ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] = "load_requests",
  ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = "load_sectors",
  ["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] = "store_requests",
  ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] = "store_sectors",
  ["smsp__sass_inst_executed_op_shared_ld.sum"] = "shared_load_requests",
  ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] = "shared_load_wavefronts",
  ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] = "shared_load_conflicts",
  ["smsp__sass_inst_executed_op_shared_st.sum"] = "shared_store_requests",
  ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"] = "shared_store_wavefronts",
  ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] = "shared_store_conflicts",
  ["l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"] = "atomic_requests",
  ["smsp__sass_inst_executed_op_shared_atom.sum"] = "shared_atomic_requests",
}

local INSTRUCTION <const> = { "inst_executed", "thread_inst_executed_true", "memory_l2_theoretical_sectors_global",
                              "memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal" }

-- The instructions of a line: address, SASS, the metrics of INSTRUCTION. One lane of each has all bytes; the others are
-- those of a load of none.
local function instructions_of(line, address)
  local list = {}
  for _, kind in ipairs(lists.keys(OPCODES)) do
    local requests, passes = line[kind .. "_requests"], line[kind .. "_wavefronts"] or 0
    if requests > 0 then
      local bytes = line[kind .. "_lane_bytes"]
      list[#list + 1] = { ("0x%x"):format(address + 16 * #list),
                          OPCODES[kind] .. (bytes and (".%d"):format(8 * bytes) or ""), requests, 1,
                          line[kind .. "_sectors"] or 0, passes, passes - (line[kind .. "_conflicts"] or 0) }
    end
  end
  if #list < line.lanes then
    list[#list + 1] = { ("0x%x"):format(address + 16 * #list), "LDG.E.0", 1, line.lanes - #list, 0, 0, 0 }
  end
  if line.barriers > 0 then
    list[#list + 1] = { ("0x%x"):format(address + 16 * #list), "BAR.SYNC 0x0", line.barriers, 1, 0, 0, 0 }
  end
  return list
end

-- What is printed of a launch: sass, lines, and sums, of the metrics of INSTRUCTION.
local function tables_of(launch, address)
  local name, sums = launch.kernel .. "(float *)", {}
  local titles = lists.append({ "Address", "Source" }, INSTRUCTION)
  local sass = { row_of { "Kernel Name", name }, row_of(titles) }
  local lines = { row_of { "File Path", "/x/" .. (launch.lines[1].file:match "[^/]*$") },
                  row_of { "Function Name", name }, row_of(lists.append({ "Line No", "Source" }, titles)) }
  for i, line in ipairs(launch.lines) do
    lines[#lines + 1] = row_of { line.line, "", "-", "-", 0, 0, 0, 0, 0 }
    for _, fields in ipairs(instructions_of(line, address + 0x100 * i)) do
      sass[#sass + 1], lines[#lines + 1] = row_of(fields), row_of(lists.append({ "", "" }, fields))
      for at, metric in ipairs(INSTRUCTION) do sums[metric] = (sums[metric] or 0) + fields[at + 2] end
    end
  end
  return { sass = table.concat(sass), lines = table.concat(lines), sums = sums }
end

-- The pages; a table of sass is printed twice if it is of the first launches.
local function pages_of(launches)
  local metrics = lists.map(report.metrics(), function(name) return name:find "^launch" and nil or name end)
  local raw = { row_of(lists.append({ "ID", "Kernel Name", "Block Size", "Grid Size" }, metrics)) }
  local sass, lines = {}, {}
  for i, one in ipairs(launches) do
    local printed = tables_of(one, 0x10000 * i)
    local values = lists.map(metrics, function(name) return one[METRICS[name]] or printed.sums[name] or 0 end)
    raw[i + 1] = row_of(lists.append({ i - 1, one.kernel .. "(float *)", "(32, 1, 1)", "(1, 1, 1)" }, values))
    sass[i], lines[i] = i <= #cases and printed.sass:rep(2) or printed.sass, printed.lines
  end
  return { raw = table.concat(raw), sass = table.concat(sass), lines = table.concat(lines) }
end

-- ---- runs ---------------------------------------------------------------------------------------

local function launch(device, file, case, templates)
  local go = device:module { file = file, templates = templates }:kernel(case.kernel):prepare {
    grid = case.grid, block = case.block, shared = case.shared }
  go(table.unpack(case.arguments(device)))
  device:synchronize()
end

local function counted()
  local device = mw.device("cpu", { check = { counters = true } })
  local before = #device:counters()
  for _, case in ipairs(cases) do launch(device, KERNELS, case) end
  for _, case in ipairs(project) do
    launch(device, case.file, case, case.kernel:find "<" and { case.kernel } or nil)
  end
  local all = device:counters()
  return table.move(all, before + 1, #all, 1, {})
end

local function compare(launches)
  local status, output
  support.with_folder(function(folder)
    for name, text in pairs(pages_of(launches)) do support.write(("%s/%s.csv"):format(folder, name), text) end
    status, output = labs.shell(("PATH=%s:$PATH MOONWARP_LIBCUDA=%s MOONWARP_LIBNVML=%s MOCK_CUDA_LEAKS=1 "
      .. "MOONWARP_HOME=%s STAND_IN_REPORT=%s COUNTERS=1 %s/tests/check-gpu.sh %s </dev/null"):format(
      labs.quoted(STAND_IN), fake.library(), fake.library(), labs.quoted(core.home()), labs.quoted(folder),
      labs.quoted(core.home()), labs.quoted(labs.program)))
  end)
  return status, output
end

-- The launches with some changed: change(launch) in place, of copies.
local function changed(launches, change)
  return lists.map(launches, function(one)
    local copy = lists.merged(one, { lines = lists.map(one.lines, function(line) return lists.merged(line) end) })
    change(copy)
    return copy
  end)
end

describe("the comparison of counters", function()
  local launches = counted()

  it("passes if all are equal", function()
    local status, output = compare(launches)
    assert.are.equal(0, status, output)
    assert.is_truthy(output:find("\nstrided +33 +%d+ +%d+ +all\n"), output)
    assert.is_truthy(output:find("\nloop_skipping +1 +%d+ +%d+ +all\n"), output)
    assert.is_truthy(output:find("\nlaplace.cu laplace2<float>: %d+ figures are equal\n"), output)
    assert.is_truthy(output:find("\n%d%d%d%d passed, 0 failed\n$"), output)
  end)

  it("says what differs, and takes few conflicts more", function()
    local status, output = compare(changed(launches, function(one)
      if one.kernel == "copy" then
        one.load_sectors, one.lines[1].load_sectors = one.load_sectors + 1, one.lines[1].load_sectors + 1
      end
      local few = { ["transpose<in_rows>"] = 60, ["transpose<padded>"] = 40 }
      if few[one.kernel] then
        one.shared_load_conflicts = one.shared_load_conflicts + one.shared_load_wavefronts // few[one.kernel]
      end
    end))
    assert.are.equal(3, status, output)
    assert.is_truthy(output:find("\ncopy +load_sectors +cpu +1024  ncu +1025\n"), output)
    assert.is_truthy(output:find("\ncopy +line %d+, load_sectors +cpu +1024  ncu +1025\n"), output)
    assert.is_truthy(output:find("\ntranspose<padded> +shared_load_conflicts +cpu +0  ncu +51\n"), output)
    assert.is_truthy(output:find("\n%d%d%d%d passed, 3 failed\n$"), output)
  end)

  it("wants a reason for each line that differs in other kernels", function()
    local status, output = compare(changed(launches, function(one)
      if one.kernel == "root_select" then one.lines[#one.lines].load_sectors = 1 end
      if one.kernel == "memcopy" then one.lines[1].load_sectors = 1 end
      if one.kernel == "reduce_tree" then one.load_sectors = 1 end
    end))
    assert.are.equal(3, status, output)
    assert.is_truthy(output:find("\ndivergence.cu root_select: 1 of %d+ figures differ\n"
      .. "  line 72  [^\n]*\n    x%[i%] is loaded once and kept in a register\n    load_sectors "), output)
    assert.is_truthy(output:find("\nmemcopy.cu memcopy: 1 of %d+ figures differ\n"
      .. "  line %d+  [^\n]*\n    NO REASON IS KNOWN\n    load_sectors "), output)
    assert.is_truthy(output:find("\nreduce.cu reduce_tree: 1 of %d+ figures differ\n  no line differs\n"
      .. "    load_sectors "), output)
    assert.is_truthy(output:find("\n%d%d%d%d passed, 2 failed\n$"), output)
  end)

  it("wants lines", function()
    local status, output = compare(changed(launches, function(one)
      one.lines = lists.map(one.lines, function(line) return lists.merged(line, { line = "" }) end)
    end))
    assert.are.equal(3, status, output)
    assert.is_truthy(output:find("\nncu has no lines\n%d+ passed, 1 failed\n$"), output)
  end)

  it("says that a launch is missing", function()
    local status, output = compare(table.move(launches, 2, #launches, 1, {}))
    assert.are.equal(1, status, output)
    local wanted = ("%d launches, of which ncu has counted %d"):format(#launches, #launches - 1)
    assert.is_truthy(output:find(wanted, 1, true), output)
  end)
end)
