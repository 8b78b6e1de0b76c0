-- SPDX-License-Identifier: MIT
--
-- What check mode and a study's own check say to a mutant: found (a finding), wrong (the study's check), fault (an
-- error), hang, none, invalid (it does not compile). Where neither finds anything, it is equivalent if the original
-- accesses memory alike, thread by thread, and has the same results (tests/check/digest.lua).

local core = require "moonwarp.core"
local digest = require "tests.check.digest"
local mutants = require "tests.check.mutants"

local judge = {}

local LIMIT <const> = 60 -- seconds per run
local home, program = core.home(), os.getenv "MOONWARP_PROGRAM" or "moonwarp"

local scratch, cache
local digest_home, originals -- with a digest of accesses; digests of the kernels as they are, by what they are run with

--- Where mutants are run.
---@param folder string   there already, empty
function judge.open(folder)
  scratch, cache, digest_home, originals = folder, os.getenv "MOONWARP_CACHE" or folder .. "/cache", nil, {}
end

-- What a run of the mutant in the scratch folder printed, and its status.
local function run(mutant, device, before, at_home, options)
  local pipe = assert(io.popen(("cd %s && MOONWARP_HOME=%s MOONWARP_DEVICE=%s MOONWARP_CACHE=%s "
    .. "LUA_PATH='%s/?.lua;%s/?/init.lua;;' timeout -s KILL %d %s %s run study.lua --quiet --out %s/out %s %s 2>&1")
    :format(scratch, at_home or home, device, at_home and cache .. "-digest" or cache, home, home, LIMIT,
    before or "", program, scratch, mutant.params, options or "")))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  return output, status
end

-- The digest of the accesses and results of the mutant in the scratch folder.
local function digest_of(mutant)
  digest_home = digest_home or digest.home(scratch)
  local output = run(mutant, "cpu:check", "env MUTANT_DIGEST=1 MOONWARP_CPU_WORKERS=1 setarch -R", digest_home)
  return digest.of(output, scratch)
end

local function outcome(output, status)
  if status == 137 then return "hang" end
  if output:find("compiling '", 1, true) then return "invalid" end
  local kind = output:match "finding\t([^\t\n]*)"
  if kind then return "found " .. kind end
  if output:find "\nerror\t" or output:find "^error\t" or status ~= 0 then return "fault" end
  return output:find "wrong\t" and (output:find("outside", 1, true) and "fault" or "wrong") or "none"
end

-- Whether it is about a fence: that behind an atomic operation is an error under strict, and else a warning.
local function is_of_fence(mutant) return mutant.kind:match "^fence" ~= nil end

--- What check mode says to a mutant: with the compiler that is preferred, or else, told by "with g++", with the other.
---@param mutant table
---@return string outcome
function judge.check(mutant)
  mutants.write(mutant, scratch)
  local said = outcome(run(mutant, "cpu:check", nil, nil, is_of_fence(mutant) and "--check=strict"))
  local by_other = said == "none" and outcome(run(mutant, "cpu:check", "env MOONWARP_CXX=g++")) or "none"
  return by_other == "none" and said or by_other .. " with g++"
end

--- What the study's own check says to it in a normal run.
---@param mutant table
---@return string outcome
function judge.own(mutant)
  mutants.write(mutant, scratch)
  return outcome(run(mutant, "cpu"))
end

--- Whether it accesses memory as the original does, and has its results.
---@param mutant table
---@return boolean
function judge.is_equivalent(mutant)
  mutants.write(mutant, scratch)
  local key, of_mutant = mutant.study .. mutant.params, digest_of(mutant)
  if not originals[key] then
    mutants.write(mutants.original(mutant), scratch)
    originals[key] = digest_of(mutant)
  end
  return originals[key] == of_mutant and of_mutant:find "result" ~= nil and of_mutant:find "accesses" ~= nil
end

return judge
