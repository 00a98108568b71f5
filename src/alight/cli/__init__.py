"""The command line: one file per subcommand, each registered by one line in ``main``."""
