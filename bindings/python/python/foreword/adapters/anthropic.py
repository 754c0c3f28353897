"""The Anthropic SDK.

>>> client = anthropic.Anthropic()                                            # doctest: +SKIP
>>> answer = client.messages.create(model=..., max_tokens=1024,                # doctest: +SKIP
...     **request(prompt, messages))
>>> messages.append({"role": "user", "content": [                             # doctest: +SKIP
...     tool_result(use, run(use)) for use in answer.content if use.type == "tool_use"]})
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._foreword import Prompt
from .._tool_results import guard_value

__all__ = ["request", "tool_result", "with_turn_context"]


def request(prompt: Prompt, messages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """`system` and `messages` of a request: cached blocks, and the turn context in its place."""
    return {
        "system": prompt.to_anthropic()["system"],
        "messages": with_turn_context(prompt.turn_context, messages),
    }


def with_turn_context(
    turn_context: str, messages: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The messages with the turn context in front of the newest message of the user.

    Messages that only carry tool results are not the user's. The given messages stay as they are, so that
    the turn context does not pile up in a history.
    """
    out = [dict(message) for message in messages]
    if not turn_context:
        return out
    block = {"type": "text", "text": turn_context}
    for message in reversed(out):
        content = message.get("content")
        if message.get("role") != "user" or _only_results(content):
            continue
        given = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])
        message["content"] = [block, *given]
        return out
    return [*out, {"role": "user", "content": [block]}]


def tool_result(tool_use: Any, content: str | list[dict[str, Any]]) -> dict[str, Any]:
    """The `tool_result` block for a `tool_use` block, with its content judged by `foreword.adapters.guard`."""
    fields = tool_use if isinstance(tool_use, Mapping) else vars(tool_use)
    judged = guard_value(content, tool=fields["name"])
    return {"type": "tool_result", "tool_use_id": fields["id"], "content": judged}


def _only_results(content: object) -> bool:
    if not isinstance(content, (list, tuple)) or not content:
        return False
    return all(isinstance(block, Mapping) and block.get("type") == "tool_result" for block in content)
