"""Foreword compiles the system prompts of AI agents.

>>> import foreword
>>> prompt = foreword.build({"task": "plan my week", "identity_files": {"agent": "You are Pickle."}})
>>> "You are Pickle." in prompt.system
True

`build` takes a complete Context, or a workspace and a task. What comes back is a `Prompt`: its text, the part
that a provider may cache, and a manifest that says where every byte came from. `scan` and `screen` judge texts
and skills, `select` picks the tools that fit a task, `check_request` says whether a prompt arrived as it was built,
and `Workspace` keeps a directory warm.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from . import _service
from ._errors import CheckFailedError, ForewordError, InternalError, UsageError
from ._foreword import Prompt, __version__
from ._workspace import Memory, Skills, Workspace, in_thread

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import (
        BuildOptions,
        CheckRequestAnswer,
        Context,
        DiffAnswer,
        ScanAnswer,
        ScreenAnswer,
        WatchReportAnswer,
    )

__all__ = [
    "CheckFailedError",
    "ForewordError",
    "InternalError",
    "Memory",
    "Prompt",
    "Skills",
    "UsageError",
    "Workspace",
    "__version__",
    "abuild",
    "ascan",
    "build",
    "check_request",
    "count",
    "diff",
    "scan",
    "screen",
    "select",
    "watch_report",
]

T = TypeVar("T")
Tokenizer = Literal["estimate", "o200k", "cl100k"]


def build(
    context: Context | Mapping[str, Any] | object | None = None,
    *,
    workspace: Workspace | str | os.PathLike[str] | None = None,
    task: str | None = None,
    agent: str | None = None,
    **options: Unpack[BuildOptions],
) -> Prompt:
    """Compiles a prompt from a complete Context, or from a workspace.

    A Context is a dict, a TypedDict (`foreword.types.Context`) or a dataclass, with field names in snake_case
    or camelCase. No file is read for it. Other arguments override its fields. A workspace is a directory, or
    a `Workspace`, which is faster for more than one prompt.
    """
    service = _service.default.service
    if isinstance(workspace, Workspace):
        service = workspace._service()
        workspace = None if context is None else workspace.path
    if context is not None and workspace is not None:
        raise UsageError("pass a context or a workspace, not both")
    if isinstance(context, str):
        raise UsageError("the context is a string", ["pass a dict, or `workspace=` and `task=`"])
    given: dict[str, Any] = dict(options)
    if task is not None:
        given["task"] = task
    if agent is not None:
        given["agent"] = agent
    if workspace is not None:
        given["workspace"] = workspace
    try:
        return service.build(context, given)
    except UsageError as error:
        if context is None and workspace is None and error.message.startswith("no workspace found"):
            error.hints[:] = ["pass a context, or `workspace=` with a directory", "create one with `foreword init`"]
        raise


async def abuild(
    context: Context | Mapping[str, Any] | object | None = None,
    *,
    workspace: Workspace | str | os.PathLike[str] | None = None,
    task: str | None = None,
    agent: str | None = None,
    **options: Unpack[BuildOptions],
) -> Prompt:
    """`build` that does not block the event loop."""
    return await in_thread(
        lambda: build(context, workspace=workspace, task=task, agent=agent, **options)
    )


def diff(a: Prompt, b: Prompt) -> DiffAnswer:
    """Compares two prompts: the first difference, its section, and what is billed again."""
    return a.diff(b)


def scan(text: str) -> ScanAnswer:
    """Scans a text for prompt injection. A verdict is a signal, not a proof."""
    answer: ScanAnswer = _service.default.service.call("scan", {"text": _text(text)})
    return answer


async def ascan(text: str) -> ScanAnswer:
    """`scan` that does not block the event loop."""
    return await in_thread(lambda: scan(text))


def screen(
    text: str,
    *,
    files: Mapping[str, str] | None = None,
    name: str | None = None,
    policy: Literal["agent", "import"] = "import",
) -> ScreenAnswer:
    """Screens a skill without storing it: its SKILL.md and the other files of its folder."""
    params = {"text": _text(text), "files": None if files is None else dict(files), "name": name, "policy": policy}
    answer: ScreenAnswer = _service.default.service.call("screen", params)
    return answer


def count(text: str, tokenizer: Tokenizer = "estimate") -> int:
    """Counts the tokens of a text."""
    params = {"text": _text(text), "tokenizer": tokenizer}
    tokens: int = _service.default.service.call("count", params)["tokens"]
    return tokens


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise UsageError(f"expected a string, not `{type(text).__name__}`")
    return text


def check_request(
    body: Mapping[str, Any] | str | bytes,
    prompt: Prompt | None = None,
    *,
    directory: str | os.PathLike[str] | None = None,
    tokenizer: Tokenizer = "estimate",
) -> CheckRequestAnswer:
    """Reports on the body of a request to a model, and checks that a prompt is in it byte for byte.

    `answer["prompt"]["is_right"]` is true if the prompt is there, no other text comes before it, its stable part can
    be cached and the turn context stands behind what stays the same. With a `directory`, the report says which of
    its files the text comes from.
    """
    import json

    if isinstance(body, Mapping):
        try:
            text = json.dumps(body, allow_nan=False, default=dict)
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError(f"invalid request body: {error}") from None
    elif isinstance(body, str):
        text = body
    elif isinstance(body, (bytes, bytearray)):
        text = _utf8(body)
    else:
        raise UsageError(f"invalid request body: expected a dict, str or bytes, not `{type(body).__name__}`")
    if prompt is not None and not isinstance(prompt, Prompt):
        raise UsageError(f"expected a Prompt, not `{type(prompt).__name__}`", ["pass what `foreword.build` gave"])
    built = None
    if prompt is not None:
        built = {"system": prompt.system, "stable": prompt.stable, "turn_context": prompt.turn_context}
    params = {"body": text, "prompt": built, "directory": directory, "tokenizer": tokenizer}
    answer: CheckRequestAnswer = _service.default.service.call("check_request", params)
    return answer


def _utf8(body: bytes | bytearray) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"invalid request body: {error}") from None


def watch_report(
    id: str | None = None,
    *,
    directory: str | os.PathLike[str] | None = None,
    with_texts: bool = False,
    tokenizer: Tokenizer = "estimate",
) -> WatchReportAnswer:
    """Reports on a capture of `foreword watch`: the latest one, or that of an ID."""
    params = {"id": id, "directory": directory, "with_texts": with_texts, "tokenizer": tokenizer}
    answer: WatchReportAnswer = _service.default.service.call("watch_report", params)
    return answer


def _described(tool: object) -> dict[str, str]:
    """The name and description of a tool object of any framework."""
    if isinstance(tool, str):
        return {"name": tool}
    if isinstance(tool, Mapping):
        # OpenAI's chat completions wrap the function.
        inner = tool.get("function", tool)
        name, about = inner.get("name"), inner.get("description")
    else:
        name = getattr(tool, "name", None) or getattr(tool, "__name__", None)
        about = getattr(tool, "description", None) or getattr(tool, "__doc__", None)
    if not isinstance(name, str):
        raise UsageError(
            f"a tool has no name: {tool!r:.80}", ["pass `describe`, which gives name and description"]
        )
    return {"name": name, "description": about if isinstance(about, str) else ""}


def select(
    task: str,
    tools: Iterable[T],
    *,
    max_tools: int | None = None,
    max_results: int | None = None,
    min_score: float | None = None,
    describe: Callable[[T], Mapping[str, str]] = _described,
) -> Sequence[T]:
    """Picks the tools that fit a task, best first, and returns those very objects.

    Tools are names, dicts, functions or tool objects of a framework. `describe` gives the name and the
    description of one where that is not obvious.
    """
    if isinstance(tools, str):
        raise UsageError("`tools` is a string", ["pass a list of tools"])
    given = list(tools)
    params = {
        "task": task,
        "tools": [dict(describe(tool)) for tool in given],
        "max_tools": max_tools,
        "max_results": max_results,
        "min_score": min_score,
    }
    answer = _service.default.service.call("select", params)
    return [given[picked["index"]] for picked in answer["tools"]]
