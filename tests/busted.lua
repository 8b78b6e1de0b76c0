-- SPDX-License-Identifier: MIT
--
-- busted's own command line, for a stock lua5.4 and for `moonwarp run tests/busted.lua -- words`
-- alike.
require "busted.runner" { standalone = false }
