local environment = {}
function environment.collect() return {} end
return environment
