-- SPDX-License-Identifier: MIT
--
-- A lab changed its folder while a teacher read it: between a look at a file and its opening the file became a pipe,
-- for which a report waited for ever, or a link, and the report had what the teacher may read.

local support = require "tests.support"
local labs = require "tests.support.labs"
local files = require "moonwarp.base.files"
local json = require "moonwarp.base.json"
local report_runs = require "tests.support.report_runs"

local SECRET <const> = "secret-of-the-teacher"

describe("a file that others wrote", function()
  local function with_files(body)
    support.with_folder(function(folder)
      os.execute(("cd %s && mkdir -p run/in && mkfifo run/pipe && ln -s ../secret run/link && ln -s .. run/up"):format(
        labs.quoted(folder)))
      support.write(folder .. "/secret", SECRET)
      support.write(folder .. "/run/in/a", "text")
      body(folder, { folder = folder .. "/run" })
    end)
  end

  it("is read below its folder, and no link is followed from there", function()
    with_files(function(folder, place)
      local text, _, identity = files.read_below(place, "in/a")
      assert.are.equal("text", text)
      assert.are.same({ "text", nil, identity },
        { files.read_below({ folder = folder .. "/run/../run", identity = identity }, "in//a") })
      for _, name in ipairs { "pipe", "link", "up/secret", "../secret", "in/../../secret", "in", "", ".", "none",
                              "in/a/b", "/" .. folder .. "/secret", ("x"):rep(300) } do
        assert.are.same({ nil, place.folder .. "/" .. name .. " is not a plain file" },
          { files.read_below(place, name) })
      end
      assert.are.equal(SECRET, files.read_below({ folder = folder .. "/run/up" }, "secret")) -- the folder's own path
    end)
  end)

  it("is no longer read where another folder has the name", function()
    with_files(function(folder, place)
      place.identity = select(3, files.read_below(place, "in/a"))
      os.execute(("cd %s && mv run was && cp -r was/in in && mkdir run && mv in run"):format(labs.quoted(folder)))
      assert.are.same({ nil, place.folder .. "/in/a is in another folder than before" },
        { files.read_below(place, "in/a") })
    end)
  end)

  it("has a limit, and an end", function()
    with_files(function(folder, place)
      assert(os.execute(("truncate -s 4T %s"):format(labs.quoted(folder .. "/run/log")))) -- its size is its lab's word
      assert.are.equal(("\0"):rep(4), files.tail(folder .. "/run/log", 4))
      assert.are.same({ nil, place.folder .. "/in/a has 0.0 MiB, and 3 B at most are read", 4 },
        { files.read_below(place, "in/a", 3) })
      local name = place.folder .. "/in/a"
      assert.are.same({ "text", "xt", "text", "" },
        { files.read_plain(name), files.tail(name, 2), files.tail(name, 4), files.tail(place.folder .. "/pipe", 4) })
    end)
  end)
end)

-- ---- while it changes ---------------------------------------------------------------------------

if not (support.program() and os.execute "command -v cc >/dev/null") then
  describe("a run that changes", function() pending "needs the program and cc" end)
  return
end

-- Runs whose files become a pipe or a link: their record, their script, the folder of it, and they themselves. The
-- folder "teacher" has files of the same names.
local FILL <const> = [[
cd "$1" && mkdir -p teacher/source out/s
echo "secret-of-the-teacher" >teacher/source/secret; echo "secret-of-the-teacher" >teacher/source/s.lua
printf '<svg viewBox="0 0 9 9">Produced by GNUPLOT<text>%s</text></svg>' "secret-of-the-teacher" >teacher/secret.svg
cp teacher/secret.svg teacher/secret.png
for run in 1-cpu 2-cpu 3-cpu 4-cpu; do
  mkdir -p out/s/$run/source; cp record.json out/s/$run; echo "-- s" >out/s/$run/source/s.lua
  cp out/s/$run/source/s.lua out/s/$run/source/secret
done
mkfifo pipe1 pipe2 pipe3; ln -s $PWD/teacher/source link1; ln -s $PWD/teacher link2; ln -s $PWD/teacher/secret.svg link3
echo 1 >out/s/1-cpu/secret.svg
cc -D_GNU_SOURCE -o swap "$2" && "$PROGRAM" report out && grep -q '>-- s' report.html || exit
./swap out/s/1-cpu/record.json pipe1 out/s/2-cpu/source/s.lua pipe2 out/s/1-cpu/secret.svg link3 >/dev/null 2>&1 &
one=$!
./swap out/s/3-cpu/source link1 out/s/4-cpu link2 >/dev/null 2>&1 &
two=$!
trap 'kill $one $two' EXIT
for i in $(seq $ROUNDS); do
  for words in "report out" "plot out/s/1-cpu --terminal" "export out" "history s" "report out/s/3-cpu out/s/4-cpu"; do
    timeout -s KILL 60 "$PROGRAM" $words >said 2>&1 </dev/null
    [ $? -lt 124 ] || { echo "$words: did not end"; exit 1; }
    ! grep -q "secret-of-the-teacher" said report.html || { echo "$words: has the secret"; exit 1; }
  done
done]]

describe("a run that changes", function()
  it("is drawn in the places of links, and not through them", function()
    support.with_folder(function(folder)
      local run = report_runs.make(1)
      os.execute(("mkdir -p %s/run"):format(labs.quoted(folder)))
      support.write(folder .. "/run/record.json", json.encode(run))
      support.write(folder .. "/secret", SECRET)
      local name = ("%s/run/%s."):format(folder, run.charts[1].name)
      for _, ending in ipairs { "dat", "gp", "svg", "png" } do
        os.execute(("ln -s ../secret %s"):format(labs.quoted(name .. ending)))
      end
      local status, output = labs.shell(("%s plot %s/run"):format(labs.quoted(labs.program), labs.quoted(folder)))
      assert.are.equal(0, status, output)
      assert.are.equal(SECRET, support.read(folder .. "/secret"))
      assert.is_true(files.is_plain(name .. "gp") and files.is_plain(name .. "dat"))
    end)
  end)

  for _, user in ipairs(labs.users()) do
    it("is read, or left out, by " .. user.name, function()
      support.with_folder(function(folder)
        local run = report_runs.make(1)
        run.charts, run.tables = setmetatable({}, json.list), setmetatable({}, json.list)
        run.sources = { { name = "s.lua" }, { name = "secret" } }
        run.pictures = { { name = "secret", title = "p", files = { "svg", "png" } } }
        support.write(folder .. "/record.json", json.encode(run))
        support.write(folder .. "/fill.sh", FILL)
        local command <const> = "%s ROUNDS=%s PROGRAM=%s sh %s/fill.sh %s %s/tests/regress/sandbox/swap.c"
        local status, output = labs.shell(command:format(user.as(folder), os.getenv "ROUNDS" or 3,
          labs.quoted(labs.program), folder, folder, support.core.home()))
        assert.are.equal(0, status, output)
      end)
    end)
  end
end)
