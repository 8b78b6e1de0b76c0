std = "lua54"
max_line_length = 120
files["docs"] = { max_line_length = false } -- sentences of the manual
files["tests/**/*_spec.lua"] = { std = "+busted" }
