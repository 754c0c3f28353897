"""The frameworks themselves, against a model that records what arrives."""

from __future__ import annotations

import asyncio

import foreword
import pytest

from .conftest import Recorder, built

TASK = "plan my week"


def test_openai_agents(model: Recorder) -> None:
    agents = pytest.importorskip("agents")
    openai = pytest.importorskip("openai")
    from foreword.adapters.openai_agents import Foreword

    agents.set_tracing_disabled(True)
    client = openai.AsyncOpenAI(api_key="x", base_url=f"{model.url}/v1", max_retries=0)
    fore = Foreword(built)
    agent = agents.Agent(
        name="Pickle",
        instructions=fore.instructions,
        model=agents.OpenAIResponsesModel(model="m", openai_client=client),
    )
    config = agents.RunConfig(call_model_input_filter=fore.input_filter)
    result = asyncio.run(agents.Runner.run(agent, TASK, run_config=config))
    assert result.final_output == "ok"
    prompt, body = built(TASK), model.bodies[0]
    assert body["instructions"] == prompt.system
    assert [item["content"] for item in body["input"]] == [prompt.turn_context, TASK]
    # A second turn keeps what the provider cached, and the turn context does not pile up.
    again = [*result.to_input_list(), {"role": "user", "content": "and on Sunday?"}]
    asyncio.run(agents.Runner.run(agent, again, run_config=config))
    texts = [item["content"] for item in model.bodies[1]["input"] if item.get("role") == "user"]
    assert texts == [TASK, built("and on Sunday?").turn_context, "and on Sunday?"]
    assert model.bodies[1]["instructions"] == prompt.system


def test_pydantic_ai(model: Recorder) -> None:
    pydantic_ai = pytest.importorskip("pydantic_ai")
    anthropic = pytest.importorskip("anthropic")
    from foreword.adapters.pydantic_ai import instructions
    from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = anthropic.AsyncAnthropic(api_key="x", base_url=model.url, max_retries=0)
    settings = AnthropicModelSettings(anthropic_cache_instructions=True)
    agent = pydantic_ai.Agent(
        AnthropicModel("claude-sonnet-4-5", provider=AnthropicProvider(anthropic_client=client)),
        model_settings=settings,
    )
    prompt = built(TASK)
    result = asyncio.run(agent.run(TASK, instructions=instructions(prompt)))
    assert result.output == "ok"
    system = model.bodies[0]["system"]
    texts = [block["text"] for block in system]
    assert prompt.system in texts, texts
    stable = system[texts.index(prompt.system)]
    assert stable["cache_control"]["type"] == "ephemeral", "the stable part is cacheable"
    behind = system[texts.index(prompt.system) + 1]
    assert behind["text"].strip() == prompt.turn_context.strip() and "cache_control" not in behind


def test_langchain(model: Recorder) -> None:
    pytest.importorskip("langchain")
    anthropic = pytest.importorskip("langchain_anthropic")
    from foreword.adapters.langchain import middleware
    from langchain.agents import create_agent

    llm = anthropic.ChatAnthropic(model="claude-sonnet-4-5", api_key="x", base_url=model.url, max_retries=0)
    agent = create_agent(llm, tools=[], middleware=[middleware(built)])
    result = agent.invoke({"messages": [{"role": "user", "content": TASK}]})
    assert result["messages"][-1].text == "ok"
    prompt, body = built(TASK), model.bodies[0]
    system = body["system"]
    assert "".join(block["text"] for block in system[:-1]) == prompt.system
    assert all(block["cache_control"] == {"type": "ephemeral"} for block in system[:-1])
    assert system[-1]["text"] == prompt.turn_context and "cache_control" not in system[-1]


def test_tools_of_a_framework_are_selected_as_they_are() -> None:
    core = pytest.importorskip("langchain_core.tools")

    @core.tool
    def play_music(song: str) -> str:
        """Plays a song."""
        return song

    @core.tool
    def set_alarm(at: str) -> str:
        """Rings at a given time."""
        return at

    assert foreword.select("play me a song", [set_alarm, play_music])[0] is play_music
