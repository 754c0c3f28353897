"""Bad input gives an exception that says what; nothing ends the process."""

from __future__ import annotations

import math
import os
import pickle
import sys
import threading
from pathlib import Path
from typing import Any

import foreword
import pytest
from foreword import _foreword


def refused(context: object, **options: Any) -> foreword.UsageError:
    with pytest.raises(foreword.UsageError) as error:
        foreword.build(context, **options)
    assert error.value.kind == "usage" and isinstance(error.value, ValueError)
    return error.value


def test_errors_name_the_field_and_the_place() -> None:
    assert "unknown field `taks`" in refused({"taks": "x"}).message
    assert refused({"taks": "x"}).hints == ["did you mean `task`?"]
    assert "did you mean `task`?" in str(refused({"taks": "x"}))
    assert "`taintRatio` is 2" in refused({"taint_ratio": 2}).message
    assert "context.tools[1].name: " in refused({"tools": ["a", {"name": {1, 2}}]}).message
    assert "not `set`" in refused({"tools": {1, 2}}).message
    assert "given twice" in refused({"historyTokens": 1, "history_tokens": 2}).message
    assert "keys of a dict" in refused({"identity_files": {1: "x"}}).message
    assert "no time zone" in refused({"now": __import__("datetime").datetime(2026, 1, 1)}).message
    assert "unknown field `tsk`" in refused({}, tsk="x").message
    assert "no blueprint" in refused({}, blueprint="nothing").message
    assert "not both" in refused({}, workspace=".").message
    assert "Context field `memories`" in refused({"memories": "Ada likes tea"}).message
    assert "expected a list" in refused({"memories": "Ada likes tea"}).message
    assert "Context field `historyTokens`" in refused({"history_tokens": "5"}).message
    assert refused("plan my week").hints == ["pass a dict, or `workspace=` and `task=`"]


def test_wrong_arguments_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def said(work: Any) -> str:
        with pytest.raises(foreword.UsageError) as error:
            work()
        return str(error.value)

    wrong: Any = None
    assert said(lambda: foreword.scan(wrong)) == "expected a string, not `NoneType`"
    assert "not `bytes`" in said(lambda: foreword.count(b"x"))  # type: ignore[arg-type]
    assert "`tools` is a string" in said(lambda: foreword.select("x", "abc"))
    assert "not `NoneType`" in said(lambda: foreword.check_request(wrong))
    assert "expected a Prompt" in said(lambda: foreword.check_request({}, "prompt"))  # type: ignore[arg-type]
    monkeypatch.chdir(tmp_path)
    assert "`workspace=` with a directory" in said(lambda: foreword.build(task="x"))


@pytest.mark.parametrize(
    ("context", "said"),
    [
        (7, "expected"),
        ("text", "the context is a string"),
        ([], "expected"),
        ({"task": 7}, "expected"),
        ({"task": b"bytes"}, "not `bytes`"),
        ({"task": object()}, "not `object`"),
        ({"task": "\ud800"}, "lone surrogate"),
        ({"\udfff": "x"}, "lone surrogate"),
        ({"taint_ratio": math.nan}, "not a finite number"),
        ({"taint_ratio": math.inf}, "not a finite number"),
        ({"history_tokens": -1}, "expected"),
        ({"history_tokens": 2**70}, "does not fit 64 bits"),
        ({"history_tokens": True}, "expected"),
    ],
)
def test_wrong_values_are_refused(context: object, said: str) -> None:
    assert said in refused(context).message


def test_deep_and_cyclic_objects_end() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    assert "nested deeper" in refused({"tools": deep}).message
    cycle: dict[str, Any] = {}
    cycle["identity_files"] = cycle
    assert "contains itself" in refused(cycle).message
    # Freeing a list this deep is Python's affair.
    while isinstance(deep, list):
        deep = deep.pop()


def test_huge_contexts_are_cut_and_accounted_for() -> None:
    prompt = foreword.build({"context_content": "word " * 2_000_000, "task": "x"})
    assert prompt.tokens < 200_000
    assert prompt.manifest["filtered"][0]["id"] == "CONTEXT.md"


def test_a_missing_workspace_is_named(tmp_path: Path) -> None:
    with pytest.raises(foreword.UsageError, match="directory not found"):
        foreword.Workspace(tmp_path / "gone")
    with pytest.raises(foreword.UsageError, match="gone"):
        foreword.build(workspace=tmp_path / "gone", task="x")


def test_a_bug_is_an_exception() -> None:
    with pytest.raises(foreword.InternalError) as error:
        _foreword._panic()
    assert error.value.kind == "internal" and "asked for by a test" in error.value.message
    assert isinstance(error.value, Exception)
    assert foreword.build({}).tokens > 0


def test_errors_can_be_pickled() -> None:
    error = refused({"taks": "x"})
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.hints, again.kind) == (error.message, error.hints, error.kind)


def test_threads_share_everything(workspace: Path) -> None:
    opened = foreword.Workspace(workspace)
    expected = opened.build("make tea", now="2026-02-26T14:30:00Z").text
    wrong: list[object] = []

    def work() -> None:
        try:
            for _ in range(20):
                if opened.build("make tea", now="2026-02-26T14:30:00Z").text != expected:
                    wrong.append("another text")
                foreword.build({"task": "x"}).manifest
                foreword.scan("hello")
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert wrong == [] and not any(thread.is_alive() for thread in threads)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_threads_work_can_go_on(workspace: Path) -> None:
    opened = foreword.Workspace(workspace)
    opened.build("make tea")
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            opened.build("make tea")

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    ok = "Calm" in opened.build("tea").system and foreword.scan("hi")["verdict"] == "PASS"
                    code = 0 if ok else 2
                finally:
                    os._exit(code)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join(120)


def test_many_builds_leave_nothing_behind() -> None:
    resource = pytest.importorskip("resource")
    context = {"task": "x", "context_content": "word " * 2_000}

    def resident() -> int:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()

    if sys.platform != "linux":
        pytest.skip("reads /proc")
    for _ in range(500):
        foreword.build(context).manifest
    before = resident()
    for _ in range(1_500):
        foreword.build(context).manifest
        with pytest.raises(foreword.UsageError):
            foreword.build({"taks": "x"})
    assert resident() - before < 4 << 20
