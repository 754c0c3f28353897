"""Google's Agent Development Kit.

>>> agent = LlmAgent(name="pickle", model=..., **instructions(workspace.build))   # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._foreword import Prompt

__all__ = ["instructions"]


def instructions(build: Callable[[str], Prompt]) -> dict[str, Any]:
    """`static_instruction` and `instruction` of an agent.

    The static instruction is the system prompt, which Gemini caches. With it, ADK puts the dynamic instruction
    behind it as content of the user: the place of the turn context.
    """

    def turn_context(context: Any) -> str:
        parts = getattr(context.user_content, "parts", None) or []
        return build("\n".join(part.text or "" for part in parts)).turn_context

    return {"static_instruction": build("").system, "instruction": turn_context}
