"""`check_request` and `watch_report`: what programs send to their models."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import foreword
import pytest

from .conftest import PROGRAM
from .recorder import Recorder, built

TASK = "plan my week"


def body(prompt: foreword.Prompt) -> dict[str, Any]:
    fields = prompt.to_anthropic()
    fields["messages"][-1]["content"].append({"type": "text", "text": TASK})
    return {"model": "claude-sonnet-4-5", "max_tokens": 10, **fields}


def test_a_prompt_is_found_byte_for_byte() -> None:
    prompt = built(TASK)
    answer = foreword.check_request(body(prompt), prompt)
    assert answer["prompt"] == {
        "is_right": True,
        "is_present": True,
        "is_marked_at_boundary": True,
        "is_marked_at_end": True,
        "turn_context": "before-user-message",
    }
    assert answer["totals"]["calls"] == 1 and answer["calls"][0]["api"] == "anthropic-messages"
    assert foreword.check_request(json.dumps(body(prompt)), prompt) == answer
    assert foreword.check_request(json.dumps(body(prompt)).encode(), prompt) == answer
    assert "prompt" not in foreword.check_request(body(prompt))


def test_what_is_wrong_is_named() -> None:
    prompt = built(TASK)
    changed = body(prompt)
    changed["system"][-1]["text"] += "!"
    changed["system"][0]["text"] = "Be brief. " + changed["system"][0]["text"]
    found = foreword.check_request(changed, prompt)["prompt"]
    assert not found["is_right"] and found["foreign_before"] == "Be brief."
    unmarked = body(prompt)
    for block in unmarked["system"]:
        del block["cache_control"]
    assert foreword.check_request(unmarked, prompt)["prompt"]["is_marked_at_boundary"] is False
    cut = body(prompt)
    cut["system"][0]["text"] = cut["system"][0]["text"].replace("Pickle", "Gherkin")
    found = foreword.check_request(cut, prompt)["prompt"]
    assert found["first_difference"]["found"].startswith("Gherkin")
    other = foreword.check_request(body(prompt), built("something else"))["prompt"]
    assert other["is_present"], "the system prompt does not depend on the task"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{", "invalid request body"),
        ("{}", "neither `messages` nor `input` nor `contents`"),
        (b"\xff", "invalid request body"),
        ({"messages": [float("nan")]}, "invalid request body"),
        ({"messages": [{1, 2}]}, "invalid request body"),
        ('{"messages": [{"role": "user", "content": "\\ud800"}]}', ""),
    ],
)
def test_bodies_that_cannot_be_read_are_refused(given: Any, said: str) -> None:
    if not said:
        # What a model would read as another character is reported on all the same.
        assert foreword.check_request(given)["totals"]["calls"] == 1
        return
    with pytest.raises(foreword.UsageError) as error:
        foreword.check_request(given)
    assert said in error.value.message


def test_a_body_that_contains_itself_is_refused() -> None:
    cycle: dict[str, Any] = {"messages": []}
    cycle["messages"].append(cycle)
    with pytest.raises(foreword.UsageError, match="invalid request body"):
        foreword.check_request(cycle)


def test_a_capture_is_reported_on(
    model: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not PROGRAM.exists():
        pytest.skip("the command line is not built: run `cargo build -p foreword-cli`")
    monkeypatch.setenv("FOREWORD_STATE_DIR", str(tmp_path / "state"))
    with pytest.raises(foreword.UsageError, match="no captures yet"):
        foreword.watch_report()
    (tmp_path / "agent.md").write_text("You are Pickle, and you keep every appointment.\n")
    program = (
        "import json, os, urllib.request\n"
        "body = {'model': 'claude-sonnet-4-5', 'max_tokens': 9, 'system': open('agent.md').read(),\n"
        "        'messages': [{'role': 'user', 'content': 'plan my week'}]}\n"
        "url = os.environ['ANTHROPIC_BASE_URL'] + '/v1/messages'\n"
        "head = {'content-type': 'application/json', 'x-api-key': 'test-key'}\n"
        "urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), head)).read()\n"
    )
    monkeypatch.setenv("ANTHROPIC_BASE_URL", model.url)
    watched = [PROGRAM, "watch", "-q", "--", sys.executable, "-c", program]
    subprocess.run(watched, cwd=tmp_path, check=True, timeout=60)
    report = foreword.watch_report(with_texts=True)
    assert report["totals"]["calls"] == 1 and report["calls"][0]["model"] == "claude-sonnet-4-5"
    assert report["sources"][0]["name"] == "agent.md" or "agent.md" in str(report["sources"])
    assert "You are Pickle" in str(report["calls"][0]["parts"])
    capture = report["capture"]["id"]
    assert foreword.watch_report(capture)["capture"]["id"] == capture
    with pytest.raises(foreword.UsageError, match="no capture `0000`"):
        foreword.watch_report("0000")
