-- SPDX-License-Identifier: MIT
return {
  title = "stream",
  owner = "stream",
  self = "s",
  about = [[
A queue of work on one device. Work in one stream runs in order; different streams run concurrently. A launch takes a
stream in `k:prepare`, a copy in its options. A stream made with `blocking = true` (the default) and the default
stream wait for each other, as with CUDA's legacy default stream. The per-thread default stream,
`dev:default_stream "per-thread"`, waits only for the legacy one.

Closing a stream does not wait; its work still finishes.

Two accesses of the same bytes, one of them a write, are a race if nothing orders them. Of copies, fills and what the
script itself reads and writes, moonwarp finds races on every device, also where all went well: a warning names both
lines, the elements and the remedy, once for a pair of lines. The order comes from streams, events that a stream or the
script waits for, callbacks, queries that return true, graphs and `synchronize`. What other kernels touch is known in check mode only. The comment
`-- moonwarp: race-ok reason` on one of the lines marks a race that is intended: it has no warning.]],
  setup = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local s = dev:stream()
local a, b = dev:full(1, "f32", 1000), dev:zeros("f32", 1000)]],
  entries = {
    {
      name = "synchronize", forms = { "s:synchronize()" },
      about = [[Waits for all work queued so far, then runs the callbacks that are due. Raises an error of that work.]],
      since = "0.1.0",
      example = [[
b:copy(a, { stream = s })
s:synchronize()
print(b:get(1000)) --> 1.0]],
    },
    { name = "query", forms = { "s:query()" },
      about = [[True if all work queued so far is done. Runs callbacks that are due.]],
      returns = { { "boolean", "" } }, since = "0.1.0" },
    {
      name = "record", forms = { "s:record([event])" },
      about = [[Records an event, or a new one: it is reached when the work queued so far is done.]],
      params = { { "event", "event", "of the same device", optional = true } },
      returns = { { "event", "the event" } }, errors = { "an event of <id> expected, got one of <id>" },
        since = "0.1.0",
    },
    {
      name = "wait", forms = { "s:wait(event)" },
      about = [[Later work in this stream starts after the work that the event recorded. The script does not wait.]],
      params = { { "event", "event", "recorded before, in any stream, also of another GPU, or of another CPU device" } },
      returns = { { "stream", "the stream itself" } },
      errors = { "wait: the event was never recorded; record it in a stream first",
                 "wait: the event is of another kind of device; synchronize it instead",
                 "wait: a captured stream cannot wait for an event recorded outside the capture",
                 "wait: the event was recorded in a capture that has ended: record it again",
                 "wait: the default stream cannot join a capture" }, since = "0.1.0",
      example = [[
local other = dev:stream()
b:copy(a, { stream = s })
other:wait(s:record())
a:copy(b, { stream = other })
other:synchronize()
print(a:get(1)) --> 1.0]],
    },
    {
      name = "callback", forms = { "s:callback(f)" },
      about = [[Calls `f()` after the work queued so far: in the script's thread, in the first `synchronize`, `query` or `mw.poll`
after the stream has reached it. Later work in the stream does not wait for it.]],
      params = { { "f", "fun()", "may use the whole library" } },
      returns = { { "stream", "the stream itself" } }, since = "0.1.0",
      example = [[
s:callback(function() print "reached" end) --> reached
s:synchronize()]],
    },
    { name = "priority", forms = { "s:priority()" }, about = [[Its priority; lower is more urgent.]],
      returns = { { "integer", "" } },
      since = "0.1.0" },
    { name = "device", forms = { "s:device()" }, about = [[The device that it belongs to.]],
      returns = { { "device", "a handle of it" } },
      since = "0.1.0" },
  },
}
