"""Google's Agent Development Kit.

>>> agent = LlmAgent(name="pickle", model=..., **instructions(workspace.build),   # doctest: +SKIP
...     tools=tools, after_tool_callback=guard_tool_response)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._foreword import Prompt
from .._tool_results import guard_value

__all__ = ["guard_tool_response", "instructions"]


def instructions(build: Callable[[str], Prompt]) -> dict[str, Any]:
    """`static_instruction` and `instruction` of an agent.

    The static instruction is the system prompt, which Gemini caches. With it, ADK puts the dynamic instruction
    behind it as content of the user: the place of the turn context.
    """

    def turn_context(context: Any) -> str:
        parts = getattr(context.user_content, "parts", None) or []
        return build("\n".join(part.text or "" for part in parts)).turn_context

    return {"static_instruction": build("").system, "instruction": turn_context}


def guard_tool_response(tool: Any, args: Any, tool_context: Any, tool_response: Any) -> Any:
    """The `after_tool_callback` of an agent: judges what a tool brought; see `foreword.adapters.guard`."""
    judged = guard_value(tool_response, tool=tool.name)
    return None if judged is tool_response else judged
