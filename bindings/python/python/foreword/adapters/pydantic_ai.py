"""Pydantic AI.

>>> agent = Agent(model)                                                      # doctest: +SKIP
>>> await agent.run(task, instructions=instructions(workspace.build(task)))   # doctest: +SKIP

Instructions are given to a run, not to the decorator of an agent: what the decorator returns counts as dynamic,
and Pydantic AI would leave the stable part uncached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._foreword import Prompt

if TYPE_CHECKING:
    from pydantic_ai.messages import InstructionPart

__all__ = ["instructions"]


def instructions(prompt: Prompt) -> list[InstructionPart]:
    """The `instructions` of a run: the stable system prompt, then what changes every turn."""
    from pydantic_ai.messages import InstructionPart

    parts = [InstructionPart(content=prompt.system)]
    if prompt.turn_context:
        parts.append(InstructionPart(content=prompt.turn_context, dynamic=True))
    return parts
