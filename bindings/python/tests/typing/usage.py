"""How people use the package; mypy and pyright check it, nothing runs it."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timezone
from pathlib import Path

import foreword
from foreword.adapters import anthropic as anthropic_adapter
from foreword.types import Context


@dataclasses.dataclass
class Mine:
    task: str


def prompts() -> list[foreword.Prompt]:
    context: Context = {
        "task": "plan my week",
        "identity_files": {"agent": "You are Pickle."},
        "tools": ["calendar", {"name": "notes", "description": "Take notes"}],
        "now": datetime.now(timezone.utc),
    }
    return [
        foreword.build(context),
        foreword.build({"task": "x"}),
        foreword.build(Mine("x"), blueprint="semantic", max_prompt_tokens=900, mode="plan"),
        foreword.build(workspace=Path("my-agent"), task="x", agent="ada"),
        foreword.Workspace("my-agent").build("x", history_tokens=3),
    ]


def account(prompt: foreword.Prompt) -> str:
    sections: list[str] = [section["module"] for section in prompt.sections]
    tokens: int = prompt.manifest["metadata"]["estimated_tokens"]
    kept: int = prompt.diff(prompt)["kept_bytes"]
    fields = anthropic_adapter.request(prompt, [{"role": "user", "content": "hi"}])
    return f"{sections} {tokens} {kept} {fields} {prompt.text} {prompt.section('identity')}"


def arrived(body: dict[str, object], prompt: foreword.Prompt) -> bool:
    found = foreword.check_request(body, prompt).get("prompt")
    calls: int = foreword.watch_report()["totals"]["calls"]
    return found is not None and found["is_right"] and calls > 0


async def later(workspace: foreword.Workspace) -> foreword.Prompt:
    found = workspace.memory.search("tea")
    first = found["hits"][0]["text"] if found["hits"] else ""
    return await workspace.abuild(first)


def judged(text: str) -> bool:
    try:
        verdict = foreword.scan(text)["verdict"]
        return verdict == "PASS" and foreword.screen(text)["verdict"] != "REJECT"
    except foreword.ForewordError as error:
        print(error.kind, error.message, error.hints)
        return False


def picked(tools: list[Path]) -> Path:
    return foreword.select("x", tools, describe=lambda tool: {"name": tool.name})[0]
