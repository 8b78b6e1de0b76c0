-- SPDX-License-Identifier: MIT
--
-- moonwarp run, and moonwarp -e: a script with its parameters; lists of values make a sweep. All
-- combinations run in this process, one after the other, so that their records meet in one table
-- and one chart (sweep/passes.lua).

local core = require "moonwarp.core"
local execution = require "moonwarp.sweep.execution"
local exit = require "moonwarp.base.exit"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"

local run = { most = 1, least = 1, wants = "run wants a study or a file; moonwarp list names the studies",
              more = "%.c[uxcp]*$" } -- the sources of a program

-- ---- options ------------------------------------------------------------------------------------

local function check_number(text)
  local number = math.tointeger(tonumber(text))
  if number and number >= 1 then return number end
  options.fail("option '--pass' wants a number of at least 1, got '%s'", text)
end

local function check_words(text)
  local mode, problem = require("moonwarp.measure.checking").read(text)
  if problem then options.fail("option '--check': %s", problem) end
  return mode
end

local function check_metrics(text)
  local names = {}
  for name in text:gmatch "[^,]+" do
    if not name:find "^[%w_:.]+$" then
      options.fail("option '--counters': metrics of ncu are names as dram__bytes.sum, got '%s'", name)
    end
    names[#names + 1] = name
  end
  return names
end

--- Those that rerun and -e take as well.
run.plain = {
  { flag = "-p", show = "NAME=V[,V...]", value = "name=value", many = true,
    help = "a parameter of the script; several values are a sweep" },
  { flag = "--pass", show = "N", value = "a number", check = check_number,
    help = "only the Nth combination of a sweep, as an element of an array" },
  { flag = "--device", show = "ID", value = "a device", check = options.device,
    help = core.device_forms() .. "; else the first of these that is usable" },
  { flag = "--check", show = "[=HOW]", value = "words", optional = true, check = check_words,
    help = "check mode: judges every access to memory, times nothing; HOW: strict, schedule:16, seed:7, blocks:64" },
  { flag = "--engines",
    help = "CPU device: each launch by its engine and by fibers in two orders, compared; times nothing" },
  { flag = "--counters", show = "[=METRICS]", value = "metrics", optional = true, check = check_metrics,
    help = "what accesses are made of: sectors, bank conflicts, lanes; by kernel and line, in check mode or by ncu; "
      .. "and further metrics of ncu, as dram__bytes.sum" },
  { flag = "--out", show = "DIR", value = "a folder",
    help = "results go to DIR/STUDY/DATE-DEVICE; else out" },
  { flag = "--json", show = "FILE", value = "a file", help = "every record as a line of JSON" },
  { flag = "--quiet", help = "no tables and charts on the terminal" },
}

run.options = lists.append(lists.append({}, run.plain), {
  { flag = "-I", show = "DIR", value = "a folder", many = true, joined = true, key = "includes",
    help = "of a program: a folder of its headers" },
  { flag = "-D", show = "NAME[=V]", value = "a macro", many = true, joined = true, key = "defines",
    help = "of a program: a macro" },
  { flag = "-l", show = "NAME", value = "a library", many = true, joined = true, key = "libraries",
    help = "of a program: a library that its host part needs" },
  { flag = "--input", show = "FILE", value = "a file", help = "of a program: what it reads" },
  { flag = "--expected", show = "FILE", value = "a file", help = "of a program: what it is to print; else status 3" },
  { flag = "--mpi", help = "a rank of an MPI job: mpirun -n 4 moonwarp run FILE.lua --mpi; one run, a device each" },
  { flag = "--dry-run", key = "dry", help = "with --slurm: print the script of the job array, and queue nothing" },
  table.unpack(options.SLURM) })

run.notes = [[
exit status: 0 done, 1 error in the script, 2 wrong use, 3 a check or a pass of a sweep failed,
4 no such device, 130 interrupted
words after -- go to the script in the table arg, or to the program, whose exit status is ours]]

run.usage = [[
usage: moonwarp run STUDY|FILE.lua [options] [-- words]
       moonwarp run STUDY|FILE.lua [options] --slurm [-- options of sbatch]
       moonwarp run PROGRAM.cu [SOURCE...] [options] [-- words]

Runs a study of experiments/ (moonwarp list) or a file. -p n=1024,2048 -p by=4,8 runs it four
times; --slurm queues them as four jobs, and moonwarp batch --resume makes one run of them.
moonwarp run STUDY --help lists its parameters. PROGRAM.cu is a CUDA program with a main.]]

run.example = "moonwarp run memcopy -p n=512,1024 -p parts=ladder"

local CODE_USAGE = [[
usage: moonwarp -e CODE [options] [-- words]

Runs CODE; mw is moonwarp.]]

local CODE_EXAMPLE = [[moonwarp -e 'print(mw.device():name())']]

-- ---- running ------------------------------------------------------------------------------------

-- Both are ways to run each launch, of which there is one.
local function reject_with_engines(parsed)
  for _, name in ipairs { "check", "counters", "slurm" } do
    if parsed[name] then
      options.fail("options '--engines' and '--%s' do not go together; run the script twice", name)
    end
  end
  local word = parsed.device and core.device_word(parsed.device)
  if word and not word.compares then
    options.fail("option '--engines' compares the engines of the CPU device, got --device %s", parsed.device)
  end
end

--- After the help text, what a study says of itself.
---@param parsed table
function run.help(parsed)
  local studies, list = require "moonwarp.lab.studies", require "moonwarp.cli.list"
  if parsed[1] then print("\n" .. list.text(studies.describe({ parsed[1] })[1], true)) end
end

-- Queues the combinations of a sweep; --resume makes one run of them.
local function run_array(parsed)
  if parsed.pass then options.fail("option '--pass': --slurm runs all combinations") end
  if parsed.device then options.device(parsed.device, true) end
  local script = require("moonwarp.lab.studies").script(parsed[1])
  local chunk, problem = require("moonwarp.study.folder").load(script)
  if not chunk then failure.raise_as("script", problem) end
  local words = lists.merged(parsed, { device = parsed.device and { parsed.device } })
  words.json = nil -- of the run
  return require("moonwarp.cli.batch").submit(words, require("moonwarp.sweep.array").curriculum(script, parsed))
end

--- The command run.
---@param parsed table
---@param rerun_of string?   the folder of the run that is run again
---@param kept string?       the script's text that it kept
---@return integer status
function run.run(parsed, rerun_of, kept)
  if parsed.engines then reject_with_engines(parsed) end
  if parsed[1]:find "%.c[uxcp]+h?$" then return require("moonwarp.cli.program").run(parsed) end
  for name, flag in pairs { includes = "-I", defines = "-D", libraries = "-l", input = "--input",
                            expected = "--expected" } do
    if parsed[name] then options.fail("option '%s' is of a program, as in moonwarp run x.cu", flag) end
  end
  if parsed.slurm then return run_array(parsed) end
  options.reject_slurm(parsed)
  for _, name in ipairs { "pass", "engines", "counters" } do
    if parsed.mpi and parsed[name] then options.fail("options '--mpi' and '--%s' do not go together", name) end
  end
  if parsed.dry then options.fail("option '--dry-run' is for --slurm") end
  local studies = require "moonwarp.lab.studies"
  local script = studies.script(parsed[1])
  local rank, size = require("moonwarp.base.launcher").place()
  if size > 1 and rank == 0 and not (parsed.mpi or os.getenv "MOONWARP_LAB") then
    exit.complain("%d processes were started, and each runs the script by itself; with --mpi they are the ranks of one "
      .. "job", size)
  end
  local chunk, text = require("moonwarp.study.folder").load(script, kept)
  if not chunk then failure.raise_as("script", text) end
  return execution.run(chunk, parsed, { script = script, text = text, rerun_of = rerun_of, start = { "run", script },
                                        argv = lists.append({ "run" }, parsed.words) })
end

-- mw needs no require, and costs nothing if it is not used.
local function offer_mw()
  setmetatable(_G, { __index = function(globals, name)
    if name ~= "mw" then return nil end
    local mw = require "moonwarp"
    rawset(globals, "mw", mw)
    return mw
  end })
end

local function run_code(words, parsed)
  if parsed.engines then reject_with_engines(parsed) end
  local chunk, message = load(words[2], "=(-e)")
  if not chunk then failure.raise_as("script", require("moonwarp.base.syntax").explain(words[2], message)) end
  offer_mw()
  return execution.run(chunk, parsed, { script = "-e", argv = words, start = { "-e", words[2] } })
end

--- moonwarp -e CODE.
---@param words string[]   "-e", CODE, and options
---@return integer status
function run.code(words)
  if words[2] == nil then options.fail("option '-e' wants a piece of Lua") end
  local command = { usage = CODE_USAGE, example = CODE_EXAMPLE, options = run.plain, notes = run.notes, most = 0,
                    run = function(parsed) return run_code(words, parsed) end }
  return options.execute(command, table.move(words, words[2] == "--help" and 2 or 3, #words, 1, {}))
end

return run
