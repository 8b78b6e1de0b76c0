-- SPDX-License-Identifier: MIT
return {
  title = "graph",
  owner = "graph",
  self = "g",
  about = [[
Launches and copies recorded once and replayed with one call. `dev:capture` makes it. It keeps every array and kernel
that it uses alive.]],
  setup = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local k = dev:module("triad.cu").triad
local n = 64
local B, A, C = dev:zeros("f64", n, n), dev:full(1, "f64", n, n), dev:full(2, "f64", n, n)
local g = dev:capture(function() k:launch({ 2, 64 }, 32, B, A, C, 10, n, n) end)]],
  classes = {
    graph_node = {
      about = "One captured launch.",
      result = true,
      { "kernel", "string", "its name" },
      { "grid", "integer[]", "{x, y, z}" },
      { "block", "integer[]", "{x, y, z}" },
      { "shared", "integer", "dynamic shared memory", unit = "bytes" },
    },
  },
  entries = {
    {
      name = "launch", forms = { "g:launch([stream])" },
      about = [[Replays the launches and copies, each after those it depends on.]],
      params = { { "stream", "stream", "defaults to the default stream", optional = true } },
      returns = { { "graph", "the graph itself" } }, since = "0.1.0",
      example = [[
g:launch()
print(B:get(1, 1)) --> 21.0]],
    },
    {
      name = "update", forms = { "g:update(node, ...)" },
      about = [[Sets new arguments for one captured launch, checked as for a launch. Grid and block stay.]],
      params = { { "node", "integer", "which launch, from 1 in the order of the capture" },
        { "...", "any", "the kernel's arguments" } },
      returns = { { "graph", "the graph itself" } },
      errors = { "the graph has <n> kernel nodes, got number <m>", "as for calling a launch" }, since = "0.1.0",
      example = [[
g:update(1, B, A, C, 100, n, n):launch()
print(B:get(1, 1)) --> 201.0]],
    },
    {
      name = "nodes", forms = { "g:nodes()" }, about = [[The captured launches in order.]],
      returns = { { "graph_node[]", "see below" } }, since = "0.1.0",
      example = [[print(#g:nodes(), g:nodes()[1].kernel) --> 1  triad]],
    },
    {
      name = "dot", forms = { "g:dot()" }, about = [[The graph in graphviz's DOT language: `dot -Tsvg` draws it.]],
      returns = { { "string", "" } }, since = "0.1.0",
      example = [[print(g:dot():match("^digraph") ~= nil) --> true]],
    },
    { name = "device", forms = { "g:device()" }, about = [[The device that it runs on.]],
      returns = { { "device", "a handle of it" } },
      since = "0.1.0" },
  },
}
