"""The jobs of the command line, one module each: they read options, call, and print."""
