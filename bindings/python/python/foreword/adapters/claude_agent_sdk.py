"""The Claude Agent SDK.

>>> options = ClaudeAgentOptions(**agent_options(workspace.build))             # doctest: +SKIP
>>> async for message in query(prompt=task, options=options): ...              # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._foreword import Prompt
from .._tool_results import guard_value

__all__ = ["agent_options"]


def agent_options(build: Callable[[str], Prompt]) -> dict[str, Any]:
    """`system_prompt` and `hooks` for `ClaudeAgentOptions`.

    The system prompt is built once, for the session. Each message of the user brings the turn context for it
    as additional context. What tools bring back is judged before the model reads it.
    """
    from claude_agent_sdk import HookMatcher

    async def add_turn_context(given: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        turn_context = build(str(given.get("prompt", ""))).turn_context
        output = {"hookEventName": "UserPromptSubmit", "additionalContext": turn_context}
        return {"hookSpecificOutput": output} if turn_context else {}

    async def judge_result(given: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        response = given.get("tool_response")
        judged = guard_value(response, tool=str(given.get("tool_name", "tool")))
        if judged is response:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": judged}}

    on_message: list[Any] = [add_turn_context]
    on_result: list[Any] = [judge_result]
    return {
        "system_prompt": build("").system,
        "hooks": {
            "UserPromptSubmit": [HookMatcher(hooks=on_message)],
            "PostToolUse": [HookMatcher(hooks=on_result)],
        },
    }
