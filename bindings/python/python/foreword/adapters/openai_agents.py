"""The OpenAI Agents SDK.

>>> fore = Foreword(lambda task: workspace.build(task))                                 # doctest: +SKIP
>>> agent = Agent(name="Pickle", instructions=fore.instructions)                        # doctest: +SKIP
>>> await Runner.run(agent, task, run_config=RunConfig(                                 # doctest: +SKIP
...     call_model_input_filter=fore.input_filter))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .._foreword import Prompt
from .openai import input_with_turn_context

if TYPE_CHECKING:
    from agents.run import CallModelData, ModelInputData

__all__ = ["Foreword"]


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
