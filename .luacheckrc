std = "lua54"
max_line_length = 120
exclude_files = { "lua/meta" } -- generated, for the language server
files["docs"] = { max_line_length = false } -- sentences of the manual
files["tests/**/*_spec.lua"] = { std = "+busted" }
