"""Pydantic AI.

>>> agent = Agent(model, capabilities=[guard_tools()])                        # doctest: +SKIP
>>> await agent.run(task, instructions=instructions(workspace.build(task)))   # doctest: +SKIP

Instructions are given to a run, not to the decorator of an agent: what the decorator returns counts as dynamic,
and Pydantic AI would leave the stable part uncached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._foreword import Prompt
from .._tool_results import guard_value

if TYPE_CHECKING:
    from pydantic_ai.capabilities import Hooks
    from pydantic_ai.messages import InstructionPart

__all__ = ["guard_tools", "instructions"]


def instructions(prompt: Prompt) -> list[InstructionPart]:
    """The `instructions` of a run: the system prompt of the session, then what changes every turn.

    Pydantic AI marks the end of the first for the provider's cache, with `anthropic_cache_instructions`. It joins
    parts in its own way, so the system prompt is one part: split at the cache boundary, it would be another text.
    """
    from pydantic_ai.messages import InstructionPart

    parts = [InstructionPart(content=prompt.system)]
    if prompt.turn_context:
        parts.append(InstructionPart(content=prompt.turn_context, dynamic=True))
    return parts


def guard_tools() -> Hooks[Any]:
    """A capability that judges what tools bring back; see `foreword.adapters.guard`."""
    from pydantic_ai.capabilities import Hooks

    def judge(context: Any, /, *, call: Any, tool_def: Any, args: Any, result: Any) -> Any:
        return guard_value(result, tool=call.tool_name)

    return Hooks(after_tool_execute=judge)
