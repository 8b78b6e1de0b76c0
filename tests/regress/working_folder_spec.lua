-- SPDX-License-Identifier: MIT
--
-- A teacher works in a folder that a student wrote to. What moonwarp loads and starts came from there: lfs.lua and
-- cjson.lua by Lua's search, the CPU device's own headers by the compiler's, programs and headers by an empty name in a
-- list of folders, the kernels of its own studies, and what the folder's git settings name.

local support = require "tests.support"
local labs = require "tests.support.labs"

if not support.program() then
  describe("a folder of somebody else's", function() pending "needs the program" end)
  return
end

local HOME <const> = support.core.home()

local STUDY <const> = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local m <close> = dev:module { source = "__global__ void k(int *x) { x[threadIdx.x] += 1; }", cache = false }
local x <close> = dev:full(1, "i32", 64)
m.k:launch(1, 64, x)
mw.check(x, 2)
local r = mw.bench(function() end, { name = "x", samples = 5 })
for n = 1, 2 do mw.record { n = n, time = r } end
mw.plot { x = "n", y = "time", title = "t" }]]

-- Every command; the run is in out. They are what a teacher types who means s.lua and labs.lua, and no other file.
local COMMANDS <const> = {
  "run s.lua --out out", "run s.lua --out out --check", "-e 'mw.device(\"cpu\"):zeros(\"f32\", 4):linspace(1, 4)'",
  "run first-kernels --device cpu -p n=64 -p lines=10 -p threads=256 --out library",
  "rerun $(ls -d out/s/*-cpu | head -n 1) --out again", "report .", "report out/s", "history s", "export out/s",
  "plot $(ls -d out/s/*-cpu | head -n 1)", "compare $(ls -d out/s/*-cpu | head -n 1) $(ls -d again/s/*)",
  "list", "list s.lua", "batch labs.lua --out batches", "batch labs.lua --sandbox off --dry-run", "info", "cache stat",
  "help run", "run --help", "--version", "-e 'print(require(\"lfs\").currentdir(), require(\"cjson\")._NAME)'",
  "-e 'print(require(\"moonwarp.prompt.complete\").line(\"strin\"))'", "repl", "run s.lua --counters --out out",
}

-- Each file says that it was read, beside the folder.
local MARK <const> = [[local file = io.open("%s", "a") file:write("%s\n") file:close() error "of the folder"]]

-- The modules that moonwarp has, and those that it uses, by their files' names.
local function modules()
  local names = { "lfs.lua", "lfs/init.lua", "cjson.lua", "cjson/init.lua", "moonwarp.lua", "moonwarp/core.lua",
                  "moonwarp/host.lua", "moonwarp/arg/init.lua" }
  for _, path in ipairs(support.files(HOME .. "/lua/moonwarp")) do
    if path:find "%.lua$" then names[#names + 1] = path:sub(#HOME + 6) end
  end
  return names
end

local HEADERS <const> = { "moonwarp.h", "entry.h", "split.h", "cstdint", "stdint.h", "stddef.h", "first-kernels.cu",
                          "moonwarp/array.cu", "moonwarp/compare.cu" }
local PROGRAMS <const> = { "git", "gnuplot", "bwrap", "clang++", "g++", "clang", "ld", "as", "mktemp", "rm", "base64",
                           "true", "env", "nvcc", "sh" }

local function fill(folder, marks)
  support.write(folder .. "/s.lua", STUDY)
  support.write(folder .. "/labs.lua", 'return { defaults = { devices = "cpu" }, { name = "s", script = "s.lua" } }')
  os.execute(("cd '%s/lua' && find moonwarp -type d | (cd %s && xargs mkdir -p lfs cjson moonwarp/arg)"):format(HOME,
    labs.quoted(folder)))
  for _, name in ipairs(modules()) do support.write(folder .. "/" .. name, MARK:format(marks, name)) end
  for _, name in ipairs(HEADERS) do support.write(folder .. "/" .. name, "#error of the folder\n") end
  for _, name in ipairs { "lfs.so", "cjson.so", ".gnuplot" } do
    support.write(folder .. "/" .. name, "of the folder\n")
  end
  for _, name in ipairs(PROGRAMS) do
    support.write(folder .. "/" .. name, ("#!/bin/sh\necho %s >>%s\nexit 9\n"):format(name, marks))
  end
  os.execute(("cd %s && chmod +x %s"):format(labs.quoted(folder), table.concat(PROGRAMS, " ")))
end

-- The working folder, by an empty name in front and a point behind.
local LISTS <const> = "PATH=:$PATH:. CPATH=: CPLUS_INCLUDE_PATH=.: C_INCLUDE_PATH=: LIBRARY_PATH=: COMPILER_PATH=.: "
  .. "LUA_PATH='./?.lua;./?/init.lua;;' LUA_CPATH='./?.so;;' MOONWARP_CXX=" .. labs.quoted(HOME .. "/tests/cxx-o0")

local function read(path)
  local file <close> = io.open(path)
  return file and file:read "a" or ""
end

local function works_in(user, home)
  support.with_folder(function(above)
    local folder, marks = above .. "/folder", above .. "/marks"
    os.execute(("mkdir %s; touch %s; chmod 666 %s"):format(folder, marks, marks))
    fill(folder, marks)
    local as = user.as(above)
    for _, words in ipairs(COMMANDS) do
      local status, output = labs.shell(("cd %s && %s %s %s %s %s </dev/null"):format(folder, as, home, LISTS,
        labs.quoted(labs.program), words))
      assert.is_true(status == 0 or status == 5 and words:find "^compare" ~= nil, words .. "\n" .. output)
      assert.are.equal("", read(marks), words)
      assert.is_nil(output:find("of the folder", 1, true), output)
    end
  end)
end

describe("a folder of somebody else's", function()
  for i, user in ipairs(labs.users()) do
    it("gives no code to a command of " .. user.name, function()
      works_in(user, i == 1 and "MOONWARP_HOME=" .. labs.quoted(HOME) or "MOONWARP_HOME=") -- it finds its files itself
    end)
  end

  it("gives no code to moonwarp where its own files are not in their place", function()
    support.with_folder(function(folder)
      fill(folder, folder .. "/marks")
      local status, output = labs.shell(("cd %s && MOONWARP_HOME=/nowhere %s list"):format(folder,
        labs.quoted(labs.program)))
      assert.are.equal(1, status)
      local own = output:find("moonwarp's own module 'moonwarp.cli' cannot be loaded: ", 1, true)
      assert.is_truthy(own or output:find("'lfs' is neither in /nowhere/lib nor in Lua's own folders", 1, true), output)
      assert.are.equal("", read(folder .. "/marks"))
    end)
  end)

  -- What a stock interpreter finds as moonwarp is its user's affair; what moonwarp then loads is not.
  local stock <const> = support.stock_interpreter()
  local it_stock = stock and it or pending

  it_stock("gives no code to the module", function()
    support.with_folder(function(folder)
      fill(folder, folder .. "/marks")
      os.execute(("cd %s && rm -r moonwarp.lua moonwarp/init.lua moonwarp/core.lua lfs.so cjson.so"):format(folder))
      local status, output = labs.shell(("cd %s && LUA_PATH='./?.lua;./?/init.lua' %s s.lua"):format(folder, stock))
      assert.are.equal(0, status, output)
      assert.are.equal("", read(folder .. "/marks"))
    end)
  end)

  -- Its own modules are kept with the run, and those of the same name as moonwarp's are not.
  it("still gives a script what it asks for", function()
    support.with_folder(function(folder)
      os.execute(("mkdir %s/sub"):format(folder))
      support.write(folder .. "/sub/mine.lua", "return 7")
      support.write(folder .. "/sub/lfs.lua", "return 8")
      support.write(folder .. "/sub/s.lua", 'package.path = "sub/?.lua;" .. package.path\n'
        .. 'print(require "mine", require("lfs").currentdir()) require("moonwarp").record { x = 1 }')
      local status, output = labs.shell(("cd %s && %s run sub/s.lua"):format(folder, labs.quoted(labs.program)))
      assert.are.equal(0, status, output)
      assert.are.equal(("7\t%s\n"):format(folder), output:match "^[^\n]*\n")
      local kept = support.run(folder .. "/out") .. "/source"
      assert.are.same({ kept .. "/mine.lua", kept .. "/s.lua" }, support.files(kept))
    end)
  end)

  -- It took the one of the working folder, which may have been changed since.
  it("has no kernel for a run that is run again, which has kept its own", function()
    support.with_folder(function(folder)
      local kernel <const> = "__global__ void k(int *x) { x[0] = %d; }"
      support.write(folder .. "/k.cu", kernel:format(1))
      support.write(folder .. "/s.lua", [[local mw = require "moonwarp"
        local dev = mw.device "cpu"
        local x <close> = dev:zeros("i32", 1)
        dev:module("k.cu").k:launch(1, 1, x)
        mw.record { x = x:get(1) }
        print("x is " .. x:get(1))]])
      local run = ("cd %s && %s "):format(folder, labs.quoted(labs.program))
      assert.are.equal(0, (labs.shell(run .. "run s.lua")))
      support.write(folder .. "/k.cu", kernel:format(2))
      local status, output = labs.shell(run .. "rerun " .. support.run(folder .. "/out"))
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("x is 1\n", 1, true), output)
    end)
  end)
end)

-- What the settings of a repository name, and of a submodule: each leaves a mark.
local REPOSITORY <const> = [[
set -e
cd "$1"
program() { printf '#!/bin/sh\necho %s >>%s\ncat\n' "$1" "$PWD/marks" >"$1"; chmod +x "$1"; }
git config --global user.name a; git config --global user.email a@b; git config --global protocol.file.allow always
git init -q inner; git init -q outer
(cd inner && echo 1 >g && git add g && git commit -qm x)
for name in monitor monitor_inside clean process clean_inside; do program $name; done
mkdir hooks
for name in post-index-change post-checkout reference-transaction pre-auto-gc; do
  printf '#!/bin/sh\necho hook %s >>%s\n' $name "$PWD/marks" >hooks/$name; chmod +x hooks/$name
done
cd outer
printf 'f filter=one\ng filter=two\n' >.gitattributes
echo 1 >f; echo 1 >g; git add .
git submodule --quiet add ../inner sub
git commit -qm x
git config core.fsmonitor ../monitor; git config core.hooksPath ../hooks; git config core.untrackedCache true
git config filter.one.clean ../clean; git config filter.one.required true; git config filter.two.process ../process
git -C sub config core.fsmonitor ../../monitor_inside; git -C sub config filter.one.clean ../../clean_inside
echo '* filter=one' >sub/.gitattributes; echo 2 >sub/g
touch f g
rm -f ../marks]]

describe("a repository of somebody else's", function()
  local it_git = os.execute "git --version >/dev/null 2>&1" and it or pending

  for _, user in ipairs(labs.users()) do
    it_git("runs nothing of its settings for the revision in a record of " .. user.name, function()
      support.with_folder(function(folder)
        support.write(folder .. "/make.sh", REPOSITORY)
        local as = user.as(folder)
        local said, text = labs.shell(("%s HOME=%s sh %s/make.sh %s"):format(as, folder, folder, folder))
        assert.are.equal(0, said, text)
        local function revision()
          local status, output = labs.shell(("cd %s/outer && %s HOME=%s %s -e 'local git = mw.environment().git "
            .. "print(#git.revision, git.dirty)'"):format(folder, as, folder, labs.quoted(labs.program)))
          assert.are.equal(0, status, output)
          return output
        end
        assert.are.equal("40\tfalse\n", revision())
        support.write(folder .. "/outer/f", "2\n")
        assert.are.equal("40\ttrue\n", revision())
        assert.are.equal("", read(folder .. "/marks"))
        -- that the marks would be left
        labs.shell(("cd %s/outer && %s HOME=%s git status"):format(folder, as, folder))
        assert.is_truthy(read(folder .. "/marks"):find "monitor")
      end)
    end)
  end

  it_git("has no revision before its first commit", function()
    support.with_folder(function(folder)
      os.execute(("git init -q %s"):format(folder))
      assert.is_nil(require("moonwarp.measure.environment").revision(folder))
    end)
  end)
end)
