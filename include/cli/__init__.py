"""The command line: parses, calls `stack` or `pipeline`, prints; the one package that prints."""
