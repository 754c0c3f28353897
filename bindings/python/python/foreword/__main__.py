"""`python -m foreword` runs the command line."""

from ._command_line import main

main()
