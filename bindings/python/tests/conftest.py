"""What the tests share: an environment of their own, and examples."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import foreword
import pytest

from .recorder import Recorder, built

ROOT = Path(__file__).resolve().parents[3]
# The command line that was built with the extension.
PROGRAM = Path(os.environ.get("FOREWORD_TEST_PROGRAM", ROOT / "target/debug/foreword"))


@pytest.fixture(autouse=True)
def own_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings and keys of the person who runs the tests stay untouched."""
    directory = tmp_path_factory.mktemp("config")
    monkeypatch.setenv("FOREWORD_CONFIG_DIR", os.fspath(directory))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    skill = "---\nname: tea\ndescription: How to make tea\n---\nBoil water.\n"
    (tmp_path / "SOUL.md").write_text("Calm and precise.\n")
    (tmp_path / "skills" / "tea").mkdir(parents=True)
    (tmp_path / "skills" / "tea" / "SKILL.md").write_text(skill)
    return tmp_path


def schema(name: str) -> Any:
    return json.loads((ROOT / "schemas" / f"{name}.json").read_text())


@pytest.fixture
def model() -> Iterator[Recorder]:
    recorder = Recorder()
    yield recorder
    recorder.close()


@pytest.fixture
def prompt() -> foreword.Prompt:
    return built("plan my week")
