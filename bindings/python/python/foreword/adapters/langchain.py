"""LangChain 1.x: middleware for `create_agent`.

>>> own = [middleware(workspace.build), guard_tools()]                # doctest: +SKIP
>>> agent = create_agent(model, tools=tools, middleware=own)          # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._foreword import Prompt
from .._tool_results import guard

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest
    from langchain_core.messages import SystemMessage

__all__ = ["guard_tools", "middleware", "system_message"]


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


def guard_tools() -> AgentMiddleware[Any, Any]:
    """Judges what tools bring back before the model reads it; see `foreword.adapters.guard`."""
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import ToolMessage

    def judged(request: Any, result: Any) -> Any:
        if not isinstance(result, ToolMessage):
            return result
        text = guard(str(result.text), tool=request.tool_call["name"])
        return result if text == result.text else result.model_copy(update={"content": text})

    class GuardTools(AgentMiddleware[Any, Any]):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            return judged(request, handler(request))

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            return judged(request, await handler(request))

    return GuardTools()
