"""The OpenAI SDK: the Responses API and Chat Completions.

>>> client.responses.create(model=..., **responses(prompt, "Plan my week"))    # doctest: +SKIP
>>> client.chat.completions.create(model=..., **chat(prompt, messages))        # doctest: +SKIP

`tool_output` and `tool_message` are the answers to a tool call, judged before the model reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._foreword import Prompt
from .._tool_results import guard

__all__ = ["chat", "input_with_turn_context", "responses", "tool_message", "tool_output"]


def responses(prompt: Prompt, input: str | Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """`instructions`, `input` and `prompt_cache_key` of a request to the Responses API."""
    fields = prompt.to_responses()
    return {
        "instructions": fields["instructions"],
        "input": input_with_turn_context(prompt.turn_context, input),
        "prompt_cache_key": fields["prompt_cache_key"],
    }


def chat(prompt: Prompt, messages: str | Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """`messages` and `prompt_cache_key` of a request to Chat Completions.

    The system prompt comes first; the turn context stands in front of the newest message of the user.
    """
    conversation = input_with_turn_context(prompt.turn_context, messages)
    system = [{"role": "system", "content": prompt.system}] if prompt.system else []
    return {
        "messages": [*system, *conversation],
        "prompt_cache_key": prompt.to_openai()["prompt_cache_key"],
    }


def tool_output(call: Any, output: str) -> dict[str, Any]:
    """The `function_call_output` for a `function_call` of the Responses API, judged by `foreword.adapters.guard`."""
    fields = call if isinstance(call, Mapping) else vars(call)
    judged = guard(output, tool=fields["name"])
    return {"type": "function_call_output", "call_id": fields["call_id"], "output": judged}


def tool_message(call: Any, content: str) -> dict[str, Any]:
    """The `tool` message for a tool call of Chat Completions, judged by `foreword.adapters.guard`."""
    fields = call if isinstance(call, Mapping) else vars(call)
    function = fields["function"]
    name = function["name"] if isinstance(function, Mapping) else function.name
    return {"role": "tool", "tool_call_id": fields["id"], "content": guard(content, tool=name)}


def input_with_turn_context(
    turn_context: str, input: str | Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The input with the turn context as a message of its own in front of the user's newest one."""
    if isinstance(input, str):
        input = [{"role": "user", "content": input}]
    out = [dict(item) for item in input]
    if not turn_context:
        return out
    message = {"role": "user", "content": turn_context}
    places = [at for at, item in enumerate(out) if item.get("role") == "user"]
    at = places[-1] if places else len(out)
    return [*out[:at], message, *out[at:]]
