"""LangChain 1.x: a middleware for `create_agent`.

>>> agent = create_agent(model, tools=tools, middleware=[middleware(workspace.build)])   # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._foreword import Prompt

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest
    from langchain_core.messages import SystemMessage

__all__ = ["middleware", "system_message"]


def system_message(prompt: Prompt) -> SystemMessage:
    """The prompt as a system message of blocks. The turn context is the last one, behind the cached part."""
    from langchain_core.messages import SystemMessage

    blocks: list[str | dict[Any, Any]] = list(prompt.to_anthropic()["system"])
    if prompt.turn_context:
        blocks.append({"type": "text", "text": prompt.turn_context})
    return SystemMessage(content=blocks)


def middleware(build: Callable[[str], Prompt]) -> AgentMiddleware[Any, Any]:
    """Builds the prompt of every model call from the newest message of the user."""
    from langchain.agents.middleware import dynamic_prompt

    @dynamic_prompt
    def foreword_prompt(request: ModelRequest[Any]) -> SystemMessage:
        texts = [message.text for message in request.messages if message.type == "human"]
        return system_message(build(str(texts[-1]) if texts else ""))

    made: AgentMiddleware[Any, Any] = foreword_prompt
    return made
