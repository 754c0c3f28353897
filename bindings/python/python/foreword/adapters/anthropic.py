"""The Anthropic SDK.

>>> client = anthropic.Anthropic()                                            # doctest: +SKIP
>>> client.messages.create(model=..., max_tokens=1024, **request(prompt, messages))   # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._foreword import Prompt

__all__ = ["request", "with_turn_context"]


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


def _only_results(content: object) -> bool:
    if not isinstance(content, (list, tuple)) or not content:
        return False
    return all(isinstance(block, Mapping) and block.get("type") == "tool_result" for block in content)
