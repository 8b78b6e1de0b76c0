-- SPDX-License-Identifier: MIT
--
-- Channels out of a sandbox: what a lab writes beside its folder, what it sees of the machine, of the batch and of
-- other labs, what it keeps after its end, and what it fills. Each is a command of the shell in a lab of a batch with
-- --sandbox require, tried as often as $ROUNDS says, with the labs in another order. A channel that is open, a limit
-- that does not hold, and a batch without its result count; there may be none.

local json = require "moonwarp.base.json"
local labs = require "tests.support.labs"
local support = require "tests.support"

local problem = require("moonwarp.lab.sandbox").new("auto").problem
if problem then require("moonwarp").skip(problem) end

local rounds = math.tointeger(tonumber(os.getenv "ROUNDS" or 5))
math.randomseed(math.tointeger(tonumber(os.getenv "SEED" or 1)))

local TAG <const> = "mw" .. support.read("/proc/self/stat"):match "^%d+"

-- ---- the channels ---------------------------------------------------------------------------------

-- A command that succeeds has found a way. $OWN is the lab's folder, $WORK the batch's working folder, $TAG a name that
-- no one else has; $WORK/calls and $WORK/hold are programs of tests/regress/sandbox.
local WRITES <const> = {
  "echo x >>$WORK/target", "echo x >>$OWN/../../../../target", "rm -f $WORK/target", "mv $WORK/target $OWN/",
  "ln -s $WORK/target $OWN/link; echo x >>$OWN/link", "ln $WORK/target $OWN/hard", "chmod 777 $WORK/target",
  "touch -d 2000-01-01 $WORK/target", "truncate -s 0 $WORK/target", "mkdir $WORK/made", "touch $WORK/out/made",
  "echo x >>$OWN/../journal.jsonl", "echo x >$OWN/../result.json", "mkdir $OWN/../other-cpu.2", "rm $OWN/../room",
  "echo x >/proc/1/root$WORK/target", "echo x >/proc/self/root/../$WORK/target", "echo x >/proc/$PPID/cwd/target",
  "touch $HOME/$TAG", "touch /usr/bin/$TAG", "touch /etc/$TAG", "touch /run/$TAG", "touch /var/tmp/$TAG",
  "touch /dev/$TAG", "echo x >/proc/sys/kernel/hostname", "echo h >/proc/sysrq-trigger", "mkdir /sys/fs/cgroup/$TAG",
  "mkdir /sys/fs/cgroup/memory/$TAG", "mount -t tmpfs none /mnt", "mount -o remount,rw /", "umount -l /proc",
  "unshare -m mount -o remount,rw /", "unshare -Urm mount -o remount,bind,rw /",
  "unshare -Urm mount -t tmpfs none /mnt",
  "chroot /proc/1/root touch $WORK/target", "nsenter -t 1 -m touch $WORK/target",
  "mknod $OWN/disk b 8 0 && head -c1 $OWN/disk",
}
local SEES <const> = {
  "cat $OWN/../journal.jsonl", "cat $OWN/../other-cpu/output.txt", "ls $OWN/../*-cpu | grep -q secret",
  "grep -q . /proc/keys",
  "grep -q . /proc/key-users", "cat /tmp/$TAG", "cat /dev/shm/$TAG", "ls /tmp | grep -q $TAG.dir",
  "env | grep -q TOKEN",
  "cat /proc/*/environ | tr '\\0' '\\n' | grep -q TOKEN", "tr '\\0' ' ' </proc/1/cmdline | grep -q 'moonwarp batch'",
  "[ $(ls -d /proc/[0-9]* | wc -l) -gt 12 ]", "kill -0 $HOST_PID", "ls /run/* | grep -q .",
  "[ $(tail -n +3 /proc/net/dev | grep -vc lo:) != 0 ]", "[ $(tail -n +2 /proc/sysvipc/shm | wc -l) != 0 ]",
  "ls /dev | grep -qE '^(sd|vd|nvme|mem|kmsg|kvm|fuse|userfaultfd)'", "$WORK/calls | grep -v ' tried$'",
  "ls -l /proc/[0-9]*/fd | grep -E '/(lock|journal.jsonl|batch.json)$' | grep -vF $OWN/",
  "[ -e $WORK/out/batch/../../out/slurm ]",
}
local KEEPS <const> = {
  "touch /tmp/left /dev/shm/left", "setsid $SLEEP & true", "(setsid sh -c '$SLEEP & $SLEEP' &) ; true",
  "$WORK/hold file 8 900 & $WORK/hold sent 8 900 & sleep 0.2", "mkdir -p $MOONWARP_CACHE && touch $MOONWARP_CACHE/left",
  "mkfifo /tmp/pipe; (echo x >/tmp/pipe &); true",
}

-- Commands that meet a limit: the verdict that they have to have.
local FILLS <const> = {
  { "head -c 64M /dev/zero >$OWN/a; $SLEEP", "too much on disk" },
  { "head -c 64M /dev/zero >$OWN/a", "too much on disk" },
  { "exec 9>$OWN/a; rm $OWN/a; head -c 64M /dev/zero >&9; $SLEEP", "too much on disk" },
  { "cd $OWN; seq 3000 | xargs touch; $SLEEP", "too much on disk" },
  { "ulimit -n $(ulimit -Hn); for i in $(seq 180); do $WORK/hold open 0 900 & done; wait", "too much on disk" },
  { "cd $OWN; for i in $(seq 120); do mkdir d; cd d; done; $SLEEP", "too much on disk" },
  { "$WORK/hold file 400 900", "out of memory" },
  { "$WORK/hold mapped 400 900", "out of memory" },
  { "head -c 400M /dev/zero >/tmp/a; head -c 400M /dev/zero >/dev/shm/a; ls -l /tmp/a /dev/shm/a; true",
    "out of memory", "passed" }, -- where no cgroup counts them, each folder has its size
  { "$WORK/hold shmget 400 900", "passed" }, -- it is refused
  { "for i in $(seq 400); do $SLEEP & done; wait", "too many processes" },
  { "yes $TAG >/proc/$PPID/fd/1", "too much output" },
}

-- ---- the labs -------------------------------------------------------------------------------------

local LAB <const> = [[
local own = io.popen("realpath " .. require("moonwarp.session").current:out()):read "l"
local words = ("export OWN=%%s WORK=%%s TAG=%s HOST_PID=%d SLEEP='sleep 900.%d'; "):format(own, (os.getenv "PWD"))
for _, command in ipairs(%s) do
  local ok = os.execute(words .. "{ " .. command .. "\n} >/dev/null 2>&1")
  print((ok and "DONE " or "NOT ") .. command)
end
print "ALL"]]

local HOST <const> = math.tointeger(tonumber((TAG:gsub("%D", ""))))

local function lua_list(list)
  local words = {}
  for i, one in ipairs(list) do words[i] = ("%q"):format(one) end
  return "{ " .. table.concat(words, ", ") .. " }"
end

local LIMITS <const> = 'time_limit = 120, memory_limit = "128 MiB", disk_limit = "16 MiB", files = 1000, '
  .. 'processes = 200, output_limit = "4 MiB"'

local function lab(name, commands)
  return { name, LIMITS, LAB:format(TAG, HOST, HOST, lua_list(commands)) }
end

local function all_labs()
  local list = { lab("write", WRITES), lab("see", SEES), lab("keep", KEEPS), lab("again", SEES) }
  for i, fill in ipairs(FILLS) do list[#list + 1] = lab("fill" .. i, { fill[1] }) end
  for i = #list, 2, -1 do
    local j = math.random(i)
    list[i], list[j] = list[j], list[i]
  end
  table.insert(list, 1, { "other", "", 'print "secret"' })
  return list
end

-- ---- what came of it ------------------------------------------------------------------------------

local counts = { channels = 0, open = 0, limits = 0, ["not held"] = 0, kept = 0, lost = 0 }

local function note(what, text)
  counts[what] = counts[what] + 1
  print(("   %s: %s"):format(what, text))
end

local function count_open(name, said)
  if not said:find "\nALL\n$" then note("lost", name .. " did not come to its end") end
  for word, command in said:gmatch "(%u+) ([^\n]+)\n" do
    counts.channels = counts.channels + 1
    if word == "DONE" then note("open", ("%s: %s"):format(name, command)) end
  end
end

local function count_limit(number, row)
  local _, wanted, other = table.unpack(FILLS[number])
  counts.limits = counts.limits + 1
  if row.verdict ~= wanted and row.verdict ~= other then
    note("not held", ("%s: %s"):format(FILLS[number][1], row.verdict))
  end
end

-- What labs may have left on the machine.
local LEFT <const> = { 'grep -la "[s]leep.900.%s" /proc/[0-9]*/cmdline', "ls /tmp/left /dev/shm/left /tmp/pipe",
                       "find ~ /usr/bin /etc /var/tmp -maxdepth 1 -name " .. TAG, "grep mw%s /proc/keys",
                       "ls -d /sys/fs/cgroup/memory/" .. TAG }

local function count_kept(folder)
  for _, command in ipairs(LEFT) do
    local status, output = labs.shell("(" .. command:format(HOST) .. ") 2>/dev/null | grep .")
    if status == 0 then note("kept", output) end
  end
  if support.read(folder .. "/target") ~= "target" then note("open", "the target has changed") end
end

local function judge(folder, result)
  for _, row in ipairs(result.labs) do
    local number = math.tointeger(tonumber(row.name:match "^fill(%d+)$"))
    local said = support.read(("%s/%s/%s/output.txt"):format(folder, result.folder, row.folder))
    if number then
      count_limit(number, row)
    elseif row.name == "write" or row.name == "see" or row.name == "again" then
      count_open(row.name, said)
    end
  end
  count_kept(folder)
  local place = ("%s/%s"):format(folder, result.folder)
  if not json.decode(support.read(place .. "/result.json")) then note("lost", "result.json") end
  if not support.read(place .. "/journal.jsonl"):find '"kind":"finish"[^\n]*}\n$' then note("lost", "the journal") end
end

local function build(folder)
  for _, name in ipairs { "calls", "hold" } do
    assert(os.execute(("cc -std=gnu11 -D_GNU_SOURCE -o %s/%s tests/regress/sandbox/%s.c"):format(folder, name, name)))
  end
end

for _ = 1, rounds do
  labs.with(all_labs(), function(folder, batch)
    build(folder)
    support.write(folder .. "/target", "target")
    os.execute(("touch /tmp/%s /dev/shm/%s; mkdir -p /tmp/%s.dir"):format(TAG, TAG, TAG))
    local _, output, result = batch("labs.lua --jobs 2 --sandbox require", "MY_TOKEN=secret TMPDIR=/tmp")
    os.execute(("rm -rf /tmp/%s /dev/shm/%s /tmp/%s.dir"):format(TAG, TAG, TAG))
    if result then judge(folder, result) else note("lost", output) end
  end)
end
print(("   %d rounds: %d channels tried, %d open; %d limits met, %d not held; %d kept; %d lost"):format(rounds,
  counts.channels, counts.open, counts.limits, counts["not held"], counts.kept, counts.lost))
os.exit(counts.open + counts["not held"] + counts.kept + counts.lost == 0 and counts.channels > 0)
