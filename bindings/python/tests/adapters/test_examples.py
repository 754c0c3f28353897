"""The examples run as they are, with their frameworks, against a model that records what arrives."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import foreword
import pytest

from ..conftest import ROOT
from ..recorder import Recorder

EXAMPLES = {
    "anthropic_sdk": "anthropic",
    "openai_sdk": "openai",
    "openai_agents_sdk": "agents",
    "pydantic_ai_agent": "pydantic_ai",
    "langchain_agent": "langchain_anthropic",
    "claude_agent": "claude_agent_sdk",
    "google_adk_agent": "google.adk",
}


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def test_every_example_is_run() -> None:
    files = {path.stem for path in (ROOT / "examples/python/adapters").glob("*.py")}
    assert files == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, model: Recorder, tmp_path: Path) -> None:
    if not is_installed(EXAMPLES[name]):
        pytest.skip(f"{EXAMPLES[name]} is not installed")
    model.tool = "mcp__notes__read_notes" if name == "claude_agent" else "read_notes"
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "bindings/python/python"),
        "ANTHROPIC_API_KEY": "x",
        "ANTHROPIC_BASE_URL": model.url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CONFIG_DIR": str(tmp_path),
        "DISABLE_TELEMETRY": "1",
        "ENABLE_TOOL_SEARCH": "false",
        "GOOGLE_API_KEY": "x",
        "GOOGLE_GEMINI_BASE_URL": model.url,
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
        "OPENAI_API_KEY": "x",
        "OPENAI_BASE_URL": f"{model.url}/v1",
    }
    program = [sys.executable, ROOT / f"examples/python/adapters/{name}.py"]
    done = subprocess.run(
        program, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "ok", done.stdout
    prompt = foreword.Workspace(ROOT / "examples/standard").build("What should I do first today?")
    bodies = [body for body in model.bodies if "Call Ada before noon." in str(body)]
    assert bodies, "the result of the tool did not arrive"
    assert foreword.check_request(bodies[-1], prompt)["prompt"]["is_present"]
