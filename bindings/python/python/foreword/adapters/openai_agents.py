"""The OpenAI Agents SDK.

>>> fore = Foreword(lambda task: workspace.build(task))                                 # doctest: +SKIP
>>> agent = Agent(name="Pickle", instructions=fore.instructions,                        # doctest: +SKIP
...     tools=guard_tools(tools))
>>> await Runner.run(agent, task, run_config=RunConfig(                                 # doctest: +SKIP
...     call_model_input_filter=fore.input_filter))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._foreword import Prompt
from .._tool_results import guard
from .openai import input_with_turn_context

if TYPE_CHECKING:
    from agents import Tool, ToolOutputGuardrail
    from agents.run import CallModelData, ModelInputData

__all__ = ["Foreword", "guard_tools", "tool_guardrail"]


class Foreword:
    """Builds the prompt of every model call of a run.

    `build` gets the newest message of the user. What it returns supplies the instructions, which the
    provider caches, and the turn context, which goes in front of that message.
    """

    def __init__(self, build: Callable[[str], Prompt]) -> None:
        self._build = build
        self._last: tuple[str, Prompt] | None = None

    def instructions(self, context: object, agent: object) -> str:
        """The `instructions` of an agent."""
        return self._prompt("" if self._last is None else self._last[0]).system

    def input_filter(self, data: CallModelData[Any]) -> ModelInputData:
        """The `call_model_input_filter` of a run."""
        from agents.run import ModelInputData

        items: list[Any] = list(data.model_data.input)
        prompt = self._prompt(_newest(items))
        filtered: list[Any] = list(input_with_turn_context(prompt.turn_context, items))
        return ModelInputData(input=filtered, instructions=prompt.system)

    def _prompt(self, task: str) -> Prompt:
        if self._last is None or self._last[0] != task:
            self._last = (task, self._build(task))
        return self._last[1]


def tool_guardrail() -> ToolOutputGuardrail[Any]:
    """A `tool_output_guardrail` of a function tool: the model reads a suspicious result only as a quote."""
    from agents import ToolGuardrailFunctionOutput, ToolOutputGuardrail

    def foreword_guard(data: Any) -> ToolGuardrailFunctionOutput:
        text = str(data.output)
        judged = guard(text, tool=data.context.tool_name)
        if judged == text:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content(judged)

    return ToolOutputGuardrail(guardrail_function=foreword_guard, name="foreword")


def guard_tools(tools: Iterable[Tool]) -> list[Tool]:
    """The tools with `tool_guardrail` on every function tool. The given tools stay as they are."""
    from dataclasses import replace

    from agents import FunctionTool

    guarded: list[Tool] = []
    for tool in tools:
        if isinstance(tool, FunctionTool):
            own = [*(tool.tool_output_guardrails or []), tool_guardrail()]
            tool = replace(tool, tool_output_guardrails=own)
        guarded.append(tool)
    return guarded


def _newest(items: list[Any]) -> str:
    """The newest text of the user."""
    for item in reversed(items):
        if not isinstance(item, Mapping) or item.get("role") != "user":
            continue
        content = item.get("content")
        if isinstance(content, str):
            return content
        texts = [part.get("text", "") for part in content or [] if isinstance(part, Mapping)]
        return "\n".join(texts)
    return ""
