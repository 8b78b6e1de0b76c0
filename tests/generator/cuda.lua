-- SPDX-License-Identifier: MIT
--
-- A random kernel's tree as CUDA. A body is a list of nodes, which model.lua prints as host C++ as well:
--   text      statements without a barrier: the same text in both
--   declare   a local that lives across barriers: type, name, init; form "=", reference, elements, again, destroys
--   class     a class of the body: text
--   shared    a shared variable: type, name, count
--   barrier
--   block     nodes in braces; after a group's nodes nothing is destroyed
--   loop      uniform, around barriers: form for, while, do, goto or range; declare, condition, step, nodes
--   jump      break or continue of that loop: what, condition
--   branch    uniform: condition, yes, no
--   switch    uniform: head, cases { label, nodes, falls }
--   leave     a thread's early exit: condition, text
--   call      of a function with barriers: target, op, callee { name, parameters, nodes, result }, arguments
--   gather    a value of other threads: target, op, cuda (text), value, rule (a function of the model)
-- fixed: reduction leaves the node where it is.

local cuda = {}
local print_nodes

-- ---- nodes --------------------------------------------------------------------------------------

function cuda.text(format, ...) return { kind = "text", text = format:format(...) } end

function cuda.declare(type, name, init, more)
  local node = { kind = "declare", type = type, name = name, init = init, form = "=" }
  for key, value in pairs(more or {}) do node[key] = value end
  return node
end

function cuda.barrier() return { kind = "barrier", fixed = true } end

-- Nodes that stay or go together.
function cuda.group(list) return { kind = "block", group = true, nodes = list } end

-- ---- their text ---------------------------------------------------------------------------------

-- `T name init`, for a statement and for a loop's head.
local function declaration(node)
  if node.again then return node.again end
  local left = ("%s %s%s"):format(node.spelled or node.type, node.reference and "&" or "", node.name)
  if node.elements then
    return ("%s[%d] = { %s }"):format(left, #node.elements, table.concat(node.elements, ", "))
  end
  if node.count then return ("%s[%d]"):format(left, node.count) end
  return left .. (node.form == "=" and " = " or "") .. node.init
end

local function block(out, nodes, indent)
  print_nodes(out, nodes, indent .. "  ")
  out[#out + 1] = indent .. "}"
end

local LOOPS = {}

LOOPS["for"] = function(out, node, indent)
  local declared = node.declare and declaration(node.declare) or ""
  out[#out + 1] = ("%sfor (%s; %s; %s) {"):format(indent, declared, node.condition, node.step)
  block(out, node.nodes, indent)
end

LOOPS["while"] = function(out, node, indent)
  out[#out + 1] = ("%swhile (%s) {"):format(indent, node.condition)
  block(out, node.nodes, indent)
end

LOOPS["do"] = function(out, node, indent)
  out[#out + 1] = indent .. "do {"
  block(out, node.nodes, indent)
  out[#out] = ("%s} while (%s);"):format(indent, node.condition)
end

LOOPS["goto"] = function(out, node, indent)
  out[#out + 1] = ("%s%s: {"):format(indent, node.label)
  block(out, node.nodes, indent)
  out[#out + 1] = ("%sif (%s) goto %s;"):format(indent, node.condition, node.label)
end

LOOPS["range"] = function(out, node, indent)
  out[#out + 1] = ("%sfor (%s) {"):format(indent, node.head)
  block(out, node.nodes, indent)
end

local PRINT = {}

function PRINT.text(out, node, indent) out[#out + 1] = indent .. node.text end

function PRINT.declare(out, node, indent) out[#out + 1] = indent .. declaration(node) .. ";" end

PRINT.class = PRINT.text

function PRINT.shared(out, node, indent)
  out[#out + 1] = ("%s__shared__ %s %s%s;"):format(indent, node.type, node.name,
    node.count and ("[%d]"):format(node.count) or "")
end

function PRINT.barrier(out, _, indent) out[#out + 1] = indent .. "__syncthreads();" end

function PRINT.block(out, node, indent)
  if node.group then return print_nodes(out, node.nodes, indent) end
  out[#out + 1] = indent .. "{"
  block(out, node.nodes, indent)
end

function PRINT.loop(out, node, indent) LOOPS[node.form](out, node, indent) end

function PRINT.jump(out, node, indent) out[#out + 1] = ("%sif (%s) %s;"):format(indent, node.condition, node.what) end

function PRINT.branch(out, node, indent)
  out[#out + 1] = ("%sif (%s) {"):format(indent, node.condition)
  block(out, node.yes, indent)
  if #node.no > 0 then
    out[#out] = indent .. "} else {"
    block(out, node.no, indent)
  end
end

PRINT["switch"] = function(out, node, indent)
  out[#out + 1] = ("%sswitch (%s) {"):format(indent, node.head)
  for _, case in ipairs(node.cases) do
    out[#out + 1] = indent .. case.label .. ": {"
    block(out, case.nodes, indent)
    out[#out] = indent .. (case.falls and "}" or "} break;")
  end
  out[#out + 1] = indent .. "}"
end

function PRINT.leave(out, node, indent)
  out[#out + 1] = ("%sif (%s) { %s return; }"):format(indent, node.condition, node.text)
end

function PRINT.call(out, node, indent)
  out[#out + 1] = ("%s%s %s %s(%s);"):format(indent, node.target, node.op, node.callee.name,
    table.concat(node.arguments, ", "))
end

function PRINT.gather(out, node, indent)
  out[#out + 1] = ("%s%s %s %s;"):format(indent, node.target, node.op, node.cuda)
end

function print_nodes(out, nodes, indent)
  for _, node in ipairs(nodes) do PRINT[node.kind](out, node, indent) end
end

-- A function with barriers.
function cuda.print_function(f)
  local parameters = {}
  for i, p in ipairs(f.parameters) do
    parameters[i] = ("%s %s%s"):format(p.spelled or p.type, p.reference and "&" or "", p.name)
  end
  local out = { ("__device__ unsigned %s(%s) {"):format(f.name, table.concat(parameters, ", ")) }
  print_nodes(out, f.nodes, "  ")
  out[#out + 1] = ("  return %s;\n}"):format(f.result)
  return table.concat(out, "\n")
end

function cuda.print_body(kernel)
  local out = {}
  print_nodes(out, kernel.nodes, "  ")
  return table.concat(out, "\n")
end

cuda.PARAMETERS = "unsigned *out, unsigned *g, unsigned *h, const unsigned *in, unsigned n, unsigned w"

function cuda.print(kernel)
  local out = {}
  for i, front in ipairs(kernel.fronts) do
    out[i] = type(front) == "string" and front or cuda.print_function(front)
  end
  out[#out + 1] = ("__global__ void %s(%s) {\n%s\n}\n"):format(kernel.name, cuda.PARAMETERS, cuda.print_body(kernel))
  return table.concat(out, "\n")
end

return cuda
