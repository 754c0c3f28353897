"""The tutorial "A prompt from Python" shows what its code prints."""

from __future__ import annotations

import contextlib
import io
import re

from .conftest import ROOT

PAGE = ROOT / "docs" / "tutorials" / "python.md"


def test_the_tutorial_shows_what_its_code_prints() -> None:
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    kinds = [kind for kind, _ in blocks]
    assert kinds and kinds == ["python", "text"] * (len(kinds) // 2), "every block of code shows its output"
    names: dict[str, object] = {}
    for (_, code), (_, shown) in zip(blocks[::2], blocks[1::2], strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(PAGE), "exec"), names)
        assert printed.getvalue().rstrip() == shown.rstrip()
