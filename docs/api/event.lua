-- SPDX-License-Identifier: MIT
return {
  title = "event",
  owner = "event",
  self = "e",
  about = [[
A mark in a stream that can be waited for, asked about and timed. `dev:event` or `s:record` makes it. Recording it
again moves the mark.]],
  setup = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local from, to = dev:event(), dev:event()]],
  entries = {
    {
      name = "record", forms = { "e:record([stream])" },
      about = [[Marks the end of what the stream holds now.]],
      params = { { "stream", "stream", "the default stream, or the one that captures, where it is left out",
        optional = true } },
      returns = { { "event", "the event itself" } }, errors = { "a stream of <id> expected, got one of <id>" },
        since = "0.1.0",
    },
    { name = "synchronize", forms = { "e:synchronize()" },
      about = [[Waits until the stream has reached the event, then runs the callbacks that are due.]],
      errors = { "the event was never recorded" }, since = "0.1.0" },
    { name = "query", forms = { "e:query()" }, about = [[True when the stream has reached the event.]],
      returns = { { "boolean", "" } },
      errors = { "the event was never recorded" }, since = "0.1.0" },
    {
      name = "since", forms = { "e:since(earlier)" },
      about = [[The time from one event to another, by the device's clock. Both must have been reached.]],
      params = { { "earlier", "event", "of the same device" } },
      returns = { { "number", "seconds" } },
      errors = { "the event was never recorded", "since: an event was made with timing = false",
                 "since: the events are of two devices", "since: an event is not reached yet; synchronize it first" },
      since = "0.1.0",
      example = [[
from:record()
dev:zeros("f32", 1000000)
to:record():synchronize()
print(to:since(from) >= 0) --> true]],
    },
    { name = "device", forms = { "e:device()" }, about = [[The device that it belongs to.]],
      returns = { { "device", "a handle of it" } },
      since = "0.1.0" },
  },
}
