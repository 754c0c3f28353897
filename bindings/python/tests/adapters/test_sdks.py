"""The SDKs of Anthropic and OpenAI send the prompt byte for byte, with the cache boundary where it belongs."""

from __future__ import annotations

from typing import Any

import foreword
import pytest
from foreword.adapters import anthropic as anthropic_adapter
from foreword.adapters import guard, guard_value
from foreword.adapters import openai as openai_adapter

from ..recorder import ATTACK, Recorder, check_arrival

TASK = "plan my week"


def test_anthropic(model: Recorder, prompt: foreword.Prompt) -> None:
    anthropic = pytest.importorskip("anthropic")
    client = anthropic.Anthropic(api_key="x", base_url=model.url, max_retries=0)
    history = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "hi"},
        {"role": "user", "content": TASK},
    ]
    fields = anthropic_adapter.request(prompt, history)
    client.messages.create(model="m", max_tokens=10, **fields)
    body = model.bodies[0]
    assert "".join(block["text"] for block in body["system"]) == prompt.system
    assert body["system"][0]["text"] == prompt.stable
    assert all(block["cache_control"] == {"type": "ephemeral"} for block in body["system"])
    assert body["messages"][:2] == history[:2], "what was said before stays cached"
    check_arrival(body, prompt)
    turn, said = body["messages"][2]["content"]
    assert (turn["text"], said["text"]) == (prompt.turn_context, TASK)
    assert history[2] == {"role": "user", "content": TASK}, "the history is not changed"


def test_anthropic_tool_results_are_not_the_user(prompt: foreword.Prompt) -> None:
    messages = [
        {"role": "user", "content": TASK},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "t", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]},
    ]
    placed = anthropic_adapter.with_turn_context(prompt.turn_context, messages)
    assert placed[0]["content"][0]["text"] == prompt.turn_context and placed[2] == messages[2]
    assert anthropic_adapter.with_turn_context("", messages) == messages
    alone = anthropic_adapter.with_turn_context("now", [])
    assert alone == [{"role": "user", "content": [{"type": "text", "text": "now"}]}]


def test_openai_responses(model: Recorder, prompt: foreword.Prompt) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1", max_retries=0)
    client.responses.create(model="m", **openai_adapter.responses(prompt, TASK))
    path, body = model.requests[0]
    assert path == "/v1/responses" and body["instructions"] == prompt.system
    assert [item["content"] for item in body["input"]] == [prompt.turn_context, TASK]
    assert len(body["prompt_cache_key"]) == 32
    check_arrival(body, prompt, is_marked_at_boundary=None)


def test_openai_chat(model: Recorder, prompt: foreword.Prompt) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1", max_retries=0)
    history = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    fields = openai_adapter.chat(prompt, [*history, {"role": "user", "content": TASK}])
    client.chat.completions.create(model="m", **fields)
    messages = model.bodies[0]["messages"]
    assert messages[0] == {"role": "system", "content": prompt.system}
    assert messages[1:3] == history
    assert [message["content"] for message in messages[3:]] == [prompt.turn_context, TASK]
    check_arrival(model.bodies[0], prompt, is_marked_at_boundary=None)


def test_anthropic_tool_results(model: Recorder, prompt: foreword.Prompt) -> None:
    anthropic = pytest.importorskip("anthropic")
    client = anthropic.Anthropic(api_key="x", base_url=model.url, max_retries=0)
    model.tool = "read_page"
    tools = [
        {"name": "read_page", "description": "Reads a page", "input_schema": {"type": "object"}},
        {"name": "set_alarm", "description": "Rings at a given time", "input_schema": {"type": "object"}},
    ]
    picked = foreword.select("read the page for me", tools)
    assert picked[0] is tools[0]
    messages: list[dict[str, Any]] = [{"role": "user", "content": TASK}]

    def ask() -> Any:
        fields = anthropic_adapter.request(prompt, messages)
        return client.messages.create(model="m", max_tokens=10, tools=picked, **fields)

    use = ask().content[0]
    messages.append({"role": "assistant", "content": [use.model_dump()]})
    messages.append({"role": "user", "content": [anthropic_adapter.tool_result(use, ATTACK)]})
    assert ask().content[0].text == "ok"
    body = model.bodies[1]
    check_arrival(body, prompt)
    result = body["messages"][-1]["content"][0]
    assert result["tool_use_id"] == "t1" and f"> {ATTACK}" in result["content"]
    block = [{"type": "text", "text": "sunny"}]
    assert anthropic_adapter.tool_result(use, block)["content"] is block


def test_openai_tool_results(model: Recorder, prompt: foreword.Prompt) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1", max_retries=0)
    model.tool = "read_page"
    tools = [{"type": "function", "name": "read_page", "description": "Reads a page", "parameters": {}}]
    assert foreword.select("read the page for me", tools)[0] is tools[0]
    items: list[Any] = [{"role": "user", "content": TASK}]
    answer = client.responses.create(model="m", tools=tools, **openai_adapter.responses(prompt, items))
    call = answer.output[0]
    items += [call.model_dump(exclude_none=True), openai_adapter.tool_output(call, ATTACK)]
    answer = client.responses.create(model="m", tools=tools, **openai_adapter.responses(prompt, items))
    assert answer.output_text == "ok"
    check_arrival(model.bodies[1], prompt, is_marked_at_boundary=None)
    assert f"> {ATTACK}" in model.bodies[1]["input"][-1]["output"]
    chat = {"id": "t1", "type": "function", "function": {"name": "read_page", "arguments": "{}"}}
    message = openai_adapter.tool_message(chat, ATTACK)
    assert message["tool_call_id"] == "t1" and message["content"].startswith("Warning: this result of `read_page`")


def test_tool_results_are_judged() -> None:
    assert guard("22 degrees and sunny", tool="weather") == "22 degrees and sunny"
    shown = guard(ATTACK, tool="web")
    assert shown.startswith("Warning: this result of `web`") and f"> {ATTACK}" in shown
    assert shown.count(ATTACK) == 1, "our own words do not repeat the attack"
    with pytest.raises(foreword.CheckFailedError, match="`web` was blocked"):
        guard(ATTACK, tool="web", block=True)


def test_structured_results_keep_their_shape() -> None:
    clean = {"stdout": "22 degrees", "code": 0, "parts": [{"text": "sunny"}, None]}
    assert guard_value(clean, tool="weather") is clean
    judged = guard_value({"code": 0, "parts": [{"text": ATTACK}]}, tool="web")
    assert judged["code"] == 0 and judged["parts"][0]["text"] == guard(ATTACK, tool="web")
    deep: Any = ATTACK
    for _ in range(100):
        deep = [deep]
    assert "Warning: this result of `web`" in str(guard_value(deep, tool="web"))
    with pytest.raises(foreword.CheckFailedError):
        guard_value({"a": [ATTACK]}, block=True)
