-- SPDX-License-Identifier: MIT
--
-- build: what can g++ and nvcc make of one file, and how does a script call it?
--
-- An object and a library, linked with a host program that knows nothing of CUDA; the same as a module for Lua; code
-- that nvcc has compiled, loaded as it is; the source, compiled when it is needed. Then what ptxas -v says of each
-- kernel under three limits of registers, compared with the attributes of the loaded code. Nothing is timed. After
-- practical 6 of Oxford's course. See docs/studies/build.md.

local mw = require "moonwarp"
local core = require "moonwarp.core"

local study, p, gpu = mw.study {
  question = "what can g++ and nvcc make of one file, and how does a script call it?", kernels = "build/saxpy.cu",
  course = { week = 1.2, level = 1, hours = 1, about = "PTX, cubins, objects, and who compiles what",
             without_gpu = "what NVRTC and g++ make" },
  seconds = false,
  params = { { "n", 1000, "elements of the vectors", min = 1, max = 1 << 24 },
             { "arch", "sm_90", "what is compiled for without a GPU" },
             { "lua", "/usr/include/lua5.4", "the folder of Lua's headers" },
             { "limits", { 0, 32, 24 }, "registers per thread; 0: no limit", min = 0, max = 255 } },
}

local SOURCE <const> = core.home() .. "/kernels/build/saxpy.cu"

-- ---- commands ---------------------------------------------------------------------------------------
local function output_of(command)
  local pipe <close> = io.popen(command .. " 2>&1")
  local text = pipe:read "a"
  local ok = pipe:close()
  return text, ok
end

local function has(tool) return (select(2, output_of("command -v " .. tool))) end

-- A folder that is removed in the end.
local function new_folder()
  local path = output_of("mktemp -d"):gsub("\n", "")
  return setmetatable({ path = path }, { __close = function() os.execute(("rm -rf '%s'"):format(path)) end })
end

-- The Makefile's target, made again if there are flags; what the compilers print.
local function make(folder, arch, target, flags)
  local text, ok = output_of(("make --no-print-directory %s -C '%s' -f '%s/kernels/build/Makefile' '%s' ARCH=%s "
    .. "LUA_INC='%s' FLAGS='--ptxas-options=-v --use_fast_math %s'"):format(flags and "-B" or "", folder.path,
    core.home(), target, arch, p.lua, flags or ""))
  if not ok then error(("%s: %s"):format(target, text), 0) end
  return text
end

-- ---- what calls it ----------------------------------------------------------------------------------
local function values(first, step)
  local list = {}
  for i = 1, p.n do list[i] = first + (i - 1) * step end
  return list
end

local function is_right(y, name) mw.check(y, function(i) return 2 * i + 1 end, { name = name, relative = 1e-6 }) end

-- Launches the kernel of a module that runs here.
local function launch(module, name)
  local dev = module:device()
  local x <close> = dev:array("f32", values(1, 1))
  local y <close> = dev:full(1, "f32", p.n)
  module:kernel "saxpy":launch(mw.ceil_div(p.n, 256), 256, p.n, 2, x, y)
  is_right(y, name)
  return "right"
end

local function run_program(folder, arch, target)
  make(folder, arch, target)
  local text, ok = output_of(("'%s/%s'"):format(folder.path, target))
  if gpu and not ok then error(("%s: %s"):format(target, text), 0) end
  return text:match "[^\n]*"
end

local function run_in_lua(folder, arch)
  make(folder, arch, "saxpy.so")
  local call = assert(package.loadlib(folder.path .. "/saxpy.so", "luaopen_saxpy"))()
  local y, problem = call(2, values(1, 1), values(1, 0))
  if not y and gpu then error("saxpy.so: " .. problem, 0) end
  if not y then return problem end
  local array <close> = study.dev:array("f32", y)
  is_right(array, "saxpy.so, called by Lua")
  return "right"
end

-- Compiled code; without a GPU it is loaded for its attributes only.
local function load_code(folder, target, kind)
  make(folder, target.arch, "saxpy." .. kind)
  local ok, module = pcall(target.dev.module, target.dev, { [kind] = ("%s/saxpy.%s"):format(folder.path, kind),
                                                            file = SOURCE })
  if not ok and (gpu or kind == "cubin") then error(module, 0) end
  if not ok then return (module.text:gsub("'[^']*/", "'")) end
  return gpu and launch(module, "saxpy." .. kind) or "loaded, not run"
end

-- ---- what ptxas says --------------------------------------------------------------------------------
-- By kernel: registers, shared memory, stack frame and spills, in bytes.
local function said_of(log)
  local all, one = {}, nil
  for line in log:gmatch "[^\n]+" do
    local length, rest = line:match "Compiling entry function '_Z(%d+)([^']*)'"
    if length then
      one = { shared = 0 }
      all[rest:sub(1, math.tointeger(tonumber(length)))] = one
    end
    local function read(field, pattern)
      local number = line:match(pattern)
      if number and one then one[field] = math.tointeger(tonumber(number)) end
    end
    read("stack", "(%d+) bytes stack frame")
    read("stores", "(%d+) bytes spill stores")
    read("loads", "(%d+) bytes spill loads")
    read("registers", "Used (%d+) registers")
    read("shared", "(%d+) bytes smem")
  end
  return all
end

-- The cubin has the registers, shared memory and stack of ptxas' log.
local function compare(folder, target, limit)
  local flag = limit > 0 and "-maxrregcount=" .. limit or ""
  local said = said_of(make(folder, target.arch, "saxpy.cubin", flag))
  local code = target.dev:module { cubin = folder.path .. "/saxpy.cubin", file = SOURCE }
  local compiled = target.dev:module { file = SOURCE, fast_math = true, max_registers = limit }
  local records = {}
  for i, name in ipairs { "saxpy", "reverse", "mix" } do
    local one, has_code, own = said[name], code:kernel(name):attributes(), compiled:kernel(name):attributes()
    local loaded <close> = study.dev:array("i32", { has_code.registers, has_code.shared_bytes, has_code.local_bytes })
    mw.check(loaded, { one.registers, one.shared, one.stack }, { name = ("%s, limit %d"):format(name, limit) })
    records[i] = mw.record { group = "ptxas", kernel = name, limit = limit, registers = one.registers,
                             shared = one.shared, stores = one.stores, loads = one.loads,
                             own_registers = own.registers, own_stores = own.spill_stores }
  end
  return records
end

-- ---- the run ----------------------------------------------------------------------------------------
local rows = {}
local function row(what, result) rows[#rows + 1] = mw.record { group = "ways", what = what, result = result } end

-- The device for nvcc's code: the GPU, or an architecture that nothing runs on.
local function target_of(dev)
  if gpu then return { dev = dev, arch = dev:properties().arch } end
  local target = { dev = mw.device("cuda:" .. p.arch), arch = p.arch }
  mw.device(dev:id()) -- opened last: that of the records
  return target
end

local function build_all(target)
  local folder <close> = new_folder()
  row("an object, linked by g++", run_program(folder, target.arch, "alone"))
  row("a library, linked by g++", run_program(folder, target.arch, "with_library"))
  local header <close> = io.open(p.lua .. "/lua.hpp")
  row("a module for Lua", header and run_in_lua(folder, target.arch) or "needs the headers of Lua 5.4")
  row("dev:module { cubin = }", load_code(folder, target, "cubin"))
  row("dev:module { ptx = }", load_code(folder, target, "ptx"))
  local records = {}
  for _, limit in ipairs(p.limits) do
    for _, one in ipairs(compare(folder, target, limit)) do records[#records + 1] = one end
  end
  return records
end

study:finally(function()
  local dev, records = study.dev, {}
  row("dev:module \"build/saxpy.cu\"", launch(dev:module "build/saxpy.cu", "the source"))
  local missing = not has "nvcc" and "nvcc" or not has "make" and "make" or not has "g++" and "g++"
  local ok, target = pcall(target_of, dev)
  missing = missing and missing .. " is not there" or not ok and target.text
  if not missing then records = build_all(target)
  else mw.remark("Only the source is compiled: %s.", missing) end
  mw.table { "what", "result", records = rows, title = "one file, and how it is called" }
  if #records == 0 then return end
  mw.table { "kernel", "limit", "registers", { "shared", title = "shared (B)" }, { "stores", title = "spilled (B)" },
             { "loads", title = "loaded again (B)" }, { "own_registers", title = "registers by NVRTC" },
             { "own_stores", title = "spilled by NVRTC (B)" }, records = records, title = "what ptxas -v says" }
end)
return study
