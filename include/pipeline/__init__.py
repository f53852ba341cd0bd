"""Use-cases: one module a step of the cycle; task id = function name = module name."""
