"""The `foreword` command of the wheel."""

from __future__ import annotations

import os
import sys

from ._service import PACKAGED


def main() -> None:
    """Runs the command line that the wheel carries, in place of this process."""
    program = PACKAGED / ("foreword.exe" if os.name == "nt" else "foreword")
    if not program.exists():
        sys.exit(
            "error: this installation has no command line\n"
            "hint: install a wheel made by `cargo xtask dist`, or run `cargo install foreword-cli`"
        )
    arguments = [str(program), *sys.argv[1:]]
    if os.name == "nt":
        import subprocess

        sys.exit(subprocess.call(arguments))
    os.execv(arguments[0], arguments)


if __name__ == "__main__":
    main()
