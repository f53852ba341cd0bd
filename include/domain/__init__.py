"""Values and pure functions that every working package shares: no I/O, no clock, no pandas."""
