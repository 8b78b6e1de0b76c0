-- SPDX-License-Identifier: MIT
--
-- A lab that filled the disk took the others with it, and the batch's own result.

local support = require "tests.support"
local labs = require "tests.support.labs"
local cjson = require "cjson"

if not support.program() then
  describe("a lab's disk", function() pending "needs the program" end)
  return
end

-- In the lab's own folder; what waits is ended by its limit.
local function fills(command)
  return ([=[local out = require("moonwarp.session").current:out()
    os.execute("cd " .. out .. [[ && %s]])]=]):format(command)
end

local HELD <const> = [[
local file = io.open(require("moonwarp.session").current:out() .. "/held", "w")
os.remove(require("moonwarp.session").current:out() .. "/held")
file:write(("x"):rep(1 << 22))
file:flush()
os.execute "sleep 1000"]]

local SMALL <const> = 'disk_limit = "1 MiB", files = 200'
local TOO_LARGE <const> = "too much on disk: its folder held more than 1.00 MiB"
local TOO_MANY <const> = "too much on disk: it had more than 200 files, folders too deep in each other or that nobody "
  .. "else can read, or too many files open"
local LABS <const> = {
  { "large", SMALL, fills "head -c 4M /dev/zero >large; sleep 1000", TOO_LARGE },
  { "left", SMALL, fills "head -c 4M /dev/zero >large", TOO_LARGE },
  { "many", SMALL, fills "mkdir a && cd a && seq 300 | xargs touch; sleep 1000", TOO_MANY },
  { "deep", SMALL, fills "for i in $(seq 150); do mkdir d && cd d; done; sleep 1000", TOO_MANY },
  { "deleted", SMALL, HELD, TOO_LARGE },
  { "links", SMALL, fills "head -c 600K /dev/urandom >a && ln a b && ln a c && ln -s / d", "passed: nothing checked" },
  { "sparse", SMALL, fills "truncate -s 4T sparse", "passed: nothing checked" },
}

-- Without root nobody reads these but their lab, as long as it lets itself.
local HIDDEN <const> = {
  { "none", SMALL, fills "mkdir h && head -c 4M /dev/zero >h/a && chmod 0 h; sleep 1000", TOO_MANY },
  { "unlisted", SMALL, fills "mkdir h && head -c 4M /dev/zero >h/a && chmod 300 h", TOO_MANY },
  { "unseen", SMALL, fills "mkdir h && head -c 4M /dev/zero >h/a && chmod 400 h", TOO_MANY },
  { "files", SMALL, fills "mkdir h && cd h && seq 300 | xargs touch && chmod 0 .", TOO_MANY },
  { "own", SMALL, fills "mkdir h && chmod 300 h . && head -c 4M /dev/zero >h/a", TOO_MANY },
}

local function ends_by_limits(words)
  return function()
    labs.with(LABS, function(_, batch)
      local status, output, result = batch("labs.lua --jobs 8 " .. words)
      assert.are.equal(1, status, output)
      for i, row in ipairs(result.labs) do
        assert.are.equal(LABS[i][4], ("%s: %s"):format(row.verdict, row.message), row.name)
      end
    end)
  end
end

-- A lab fills the disk, long before its limit; the next one has nowhere to write.
local FULL <const> = [[mkdir small && mount -t tmpfs -o size=24M none small
%s batch labs.lua --out small/out --junit small/j.xml
status=$?; cp -r small kept; umount small; exit $status]]

describe("a lab's folder", function()
  labs.it_sandboxed("is limited in a sandbox", ends_by_limits "--sandbox require")
  it("is limited without one", ends_by_limits "--sandbox off")

  -- It could not be read, and so held nothing.
  for i, user in ipairs(labs.users()) do
    local it_less = (i == 2 or labs.shell "[ $(id -u) = 0 ]" ~= 0) and it or pending
    it_less("is limited where it hides what it holds from " .. user.name, function()
      labs.with(HIDDEN, function(folder, batch)
        local status, output, result = batch("labs.lua --jobs 8 --sandbox off", user.as(folder))
        assert.are.equal(1, status, output)
        for _, row in ipairs(result.labs) do -- some may be met before they are hidden
          assert.are.equal("too much on disk", row.verdict, row.name)
        end
        assert.are.equal(TOO_MANY, "too much on disk: " .. result.labs[#HIDDEN].message)
      end)
    end)
  end

  -- It counted by one of its names in four.
  it("is limited where a file has names elsewhere", function()
    labs.with({ { "linked", SMALL, fills "for i in 1 2 3; do ln $OLDPWD/big $OLDPWD/$i; done; ln $OLDPWD/big a" } },
      function(folder, batch)
        os.execute(("head -c 3M /dev/urandom >%s/big"):format(folder))
        local _, output, result = batch "labs.lua --sandbox off"
        assert.are.equal(TOO_LARGE, ("%s: %s"):format(result.labs[1].verdict, result.labs[1].message), output)
      end)
  end)

  it("has its limits checked with the curriculum", function()
    labs.rejected('return { { name = "a", script = "mine.lua", disk_limit = "much", files = 0 } }',
      [[FILE: lab 'a': disk_limit must be a size, as in "2 GiB", got much]],
      "FILE: lab 'a': files must be a whole number from 1 to 10000000, got 0")
    local lab = labs.load('return { { name = "a", script = "mine.lua" } }').labs[1]
    assert.are.same({ 1 << 30, 100000 }, { lab.disk_limit, lab.files })
  end)
end)

describe("a full disk", function()
  local can_mount = labs.shell "unshare -m mount -t tmpfs none /mnt" == 0
  local it_can = can_mount and it or pending

  it_can("costs labs, and not the batch's result", function()
    labs.with({ { "a", "", fills "head -c 1G /dev/zero >all" }, { "b", "", "mw.record { x = 1 }" } }, function(folder)
      support.write(folder .. "/full.sh", FULL:format(labs.quoted(labs.program)))
      local status, output = labs.shell(("cd %s && unshare -m sh full.sh"):format(labs.quoted(folder)))
      assert.is_true(status == 0 or status == 1, output)
      local _, place = labs.shell(("echo %s/kept/out/batch/*"):format(folder))
      place = place:gsub("\n", "")
      local result = cjson.decode(support.read(place .. "/result.json"))
      assert.are.equal("complete 2", ("%s %d"):format(result.status, #result.labs), output)
      assert.is_truthy(support.read(place .. "/journal.jsonl"):find('"kind":"finish"[^\n]*}\n$'), output)
      assert.is_truthy(support.read(folder .. "/kept/j.xml"):find "</testsuites?>", output)
      assert.is_nil(io.open(place .. "/room"))
    end)
  end)

  it_can("is said before the first lab, where there is no room for a result", function()
    labs.with({ { "a", "", 'os.execute "echo x >ran"' } }, function(folder)
      support.write(folder .. "/full.sh", (FULL:format(labs.quoted(labs.program)):gsub("24M", "64K")))
      local status, output = labs.shell(("cd %s && unshare -m sh full.sh"):format(labs.quoted(folder)))
      assert.are.equal(2, status, output)
      assert.is_truthy(output:find("there is no room for the batch's own files: ", 1, true), output)
      assert.is_nil(io.open(folder .. "/ran"))
    end)
  end)
end)
