"""The frameworks themselves, against a model that records what arrives."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import foreword
import pytest

from ..recorder import ATTACK, Recorder, built, check_arrival

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
    check_arrival(body, prompt, is_marked_at_boundary=None)
    # A second turn keeps what the provider cached, and the turn context does not pile up.
    again = [*result.to_input_list(), {"role": "user", "content": "and on Sunday?"}]
    asyncio.run(agents.Runner.run(agent, again, run_config=config))
    texts = [item["content"] for item in model.bodies[1]["input"] if item.get("role") == "user"]
    assert texts == [TASK, built("and on Sunday?").turn_context, "and on Sunday?"]
    assert model.bodies[1]["instructions"] == prompt.system
    check_arrival(model.bodies[1], built("and on Sunday?"), is_marked_at_boundary=None)


def test_openai_agents_tools(model: Recorder) -> None:
    agents = pytest.importorskip("agents")
    openai = pytest.importorskip("openai")
    from foreword.adapters.openai_agents import Foreword, guard_tools

    agents.set_tracing_disabled(True)

    @agents.function_tool
    def read_page() -> str:
        """Reads a page."""
        return ATTACK

    @agents.function_tool
    def set_alarm(at: str) -> str:
        """Rings at a given time."""
        return at

    tools = [set_alarm, read_page]
    picked = foreword.select("read the page for me", tools)
    assert picked[0] is read_page
    model.tool = "read_page"
    client = openai.AsyncOpenAI(api_key="x", base_url=f"{model.url}/v1", max_retries=0)
    fore = Foreword(built)
    agent = agents.Agent(
        name="Pickle",
        instructions=fore.instructions,
        tools=guard_tools(picked),
        model=agents.OpenAIResponsesModel(model="m", openai_client=client),
    )
    config = agents.RunConfig(call_model_input_filter=fore.input_filter)
    result = asyncio.run(agents.Runner.run(agent, TASK, run_config=config))
    assert result.final_output == "ok" and len(model.bodies) == 2
    assert f"> {ATTACK}" in model.bodies[1]["input"][-1]["output"]
    check_arrival(model.bodies[1], built(TASK), is_marked_at_boundary=None)
    assert read_page.tool_output_guardrails is None, "the given tools stay as they are"


def test_pydantic_ai(model: Recorder) -> None:
    pydantic_ai = pytest.importorskip("pydantic_ai")
    anthropic = pytest.importorskip("anthropic")
    from foreword.adapters.pydantic_ai import instructions
    from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = anthropic.AsyncAnthropic(api_key="x", base_url=model.url, max_retries=0)
    settings = AnthropicModelSettings(anthropic_cache_instructions=True)
    agent = pydantic_ai.Agent(
        AnthropicModel("claude-opus-5-5", provider=AnthropicProvider(anthropic_client=client)),
        model_settings=settings,
    )
    prompt = built(TASK)
    result = asyncio.run(agent.run(TASK, instructions=instructions(prompt)))
    assert result.output == "ok"
    # Pydantic AI marks the end of the whole system prompt: it is cached for the session, not between sessions.
    check_arrival(
        model.bodies[0],
        prompt,
        is_right=False,
        is_marked_at_boundary=False,
        turn_context="after-system-prompt",
    )


def test_pydantic_ai_tools(model: Recorder) -> None:
    pydantic_ai = pytest.importorskip("pydantic_ai")
    anthropic = pytest.importorskip("anthropic")
    from foreword.adapters.pydantic_ai import guard_tools, instructions
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    def read_page() -> dict[str, str]:
        """Reads a page."""
        return {"page": ATTACK}

    def set_alarm(at: str) -> str:
        """Rings at a given time."""
        return at

    tools = [pydantic_ai.Tool(set_alarm), pydantic_ai.Tool(read_page)]
    picked = foreword.select("read the page for me", tools)
    assert picked[0] is tools[1]
    model.tool = "read_page"
    client = anthropic.AsyncAnthropic(api_key="x", base_url=model.url, max_retries=0)
    provider = AnthropicProvider(anthropic_client=client)
    agent = pydantic_ai.Agent(
        AnthropicModel("claude-opus-5-5", provider=provider), tools=picked, capabilities=[guard_tools()]
    )
    result = asyncio.run(agent.run(TASK, instructions=instructions(built(TASK))))
    assert result.output == "ok" and len(model.bodies) == 2
    assert f"> {ATTACK}" in str(model.bodies[1]["messages"][-1])


def test_langchain(model: Recorder) -> None:
    pytest.importorskip("langchain")
    anthropic = pytest.importorskip("langchain_anthropic")
    from foreword.adapters.langchain import middleware
    from langchain.agents import create_agent

    llm = anthropic.ChatAnthropic(model="claude-opus-5-5", api_key="x", base_url=model.url, max_retries=0)
    agent = create_agent(llm, tools=[], middleware=[middleware(built)])
    result = agent.invoke({"messages": [{"role": "user", "content": TASK}]})
    assert result["messages"][-1].text == "ok"
    prompt, body = built(TASK), model.bodies[0]
    system = body["system"]
    assert "".join(block["text"] for block in system[:-1]) == prompt.system
    assert all(block["cache_control"] == {"type": "ephemeral"} for block in system[:-1])
    assert system[-1]["text"] == prompt.turn_context and "cache_control" not in system[-1]
    check_arrival(body, prompt, turn_context="after-system-prompt")


def test_langchain_judges_tool_results(model: Recorder) -> None:
    pytest.importorskip("langchain")
    anthropic = pytest.importorskip("langchain_anthropic")
    from foreword.adapters.langchain import guard_tools, middleware
    from langchain.agents import create_agent
    from langchain_core.tools import tool

    @tool
    def read_page() -> str:
        """Reads a page."""
        return ATTACK

    model.tool = "read_page"
    llm = anthropic.ChatAnthropic(model="claude-opus-5-5", api_key="x", base_url=model.url, max_retries=0)
    agent = create_agent(llm, tools=[read_page], middleware=[middleware(built), guard_tools()])
    agent.invoke({"messages": [{"role": "user", "content": TASK}]})
    assert len(model.bodies) == 2
    result = str(model.bodies[1]["messages"][-1])
    assert "Warning: this result of `read_page`" in result and f"> {ATTACK}" in result


def test_google_adk(model: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("google.adk")
    from foreword.adapters.google_adk import instructions
    from google.adk.agents import LlmAgent
    from google.adk.models.google_llm import Gemini
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    monkeypatch.setenv("GOOGLE_API_KEY", "x")
    agent = LlmAgent(
        name="pickle", model=Gemini(model="gemini-2.5-flash", base_url=model.url), **instructions(built)
    )

    async def main() -> list[str]:
        runner = InMemoryRunner(agent=agent, app_name="app")
        session = await runner.session_service.create_session(app_name="app", user_id="ada")
        message = types.Content(role="user", parts=[types.Part(text=TASK)])
        texts = []
        async for event in runner.run_async(user_id="ada", session_id=session.id, new_message=message):
            texts += [part.text for part in event.content.parts]
        return texts

    assert asyncio.run(main()) == ["ok"]
    prompt, body = built(TASK), model.bodies[0]
    said = [part["text"] for content in body["contents"] for part in content["parts"]]
    # ADK marks what it puts there as its own, and names the agent behind the system prompt.
    assert prompt.turn_context in said[0] and said[-1] == TASK
    check_arrival(
        body,
        prompt,
        is_marked_at_boundary=None,
        foreign_after='You are an agent. Your internal name is "pickle".',
    )


def test_google_adk_tools(model: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("google.adk")
    from foreword.adapters.google_adk import guard_tool_response, instructions
    from google.adk.agents import LlmAgent
    from google.adk.models.google_llm import Gemini
    from google.adk.runners import InMemoryRunner
    from google.adk.tools import FunctionTool

    def read_page() -> str:
        """Reads a page."""
        return ATTACK

    def set_alarm(at: str) -> str:
        """Rings at a given time."""
        return at

    tools = [FunctionTool(set_alarm), FunctionTool(read_page)]
    picked = foreword.select("read the page for me", tools)
    assert picked[0] is tools[1]
    monkeypatch.setenv("GOOGLE_API_KEY", "x")
    model.tool = "read_page"
    agent = LlmAgent(
        name="pickle",
        model=Gemini(model="gemini-2.5-flash", base_url=model.url),
        tools=list(picked),
        after_tool_callback=guard_tool_response,
        **instructions(built),
    )
    runner = InMemoryRunner(agent=agent, app_name="app")
    asyncio.run(runner.run_debug(TASK, quiet=True))
    assert len(model.bodies) == 2
    results = [
        part["functionResponse"]["response"]
        for content in model.bodies[1]["contents"]
        for part in content["parts"]
        if "functionResponse" in part
    ]
    assert len(results) == 1 and f"> {ATTACK}" in str(results[0]), results


def test_claude_agent_sdk(model: Recorder, tmp_path: Path) -> None:
    sdk = pytest.importorskip("claude_agent_sdk")
    from foreword.adapters.claude_agent_sdk import agent_options

    options = sdk.ClaudeAgentOptions(
        **agent_options(built), cwd=tmp_path, env=claude_environment(model, tmp_path), max_turns=1
    )
    assert asyncio.run(asyncio.wait_for(said_by_claude(sdk, options), 120)) == ["ok"]
    bodies = [body for body in model.bodies if body.get("system")]
    # The SDK writes who it is in front of a prompt, sends it as one block, and the turn context behind the message.
    check_arrival(
        bodies[-1],
        built(TASK),
        is_right=False,
        is_marked_at_boundary=False,
        foreign_before="You are a Claude agent, built on Anthropic's Claude Agent SDK.",
        turn_context="after-user-message",
    )


def test_claude_agent_sdk_tools(model: Recorder, tmp_path: Path) -> None:
    sdk = pytest.importorskip("claude_agent_sdk")
    from foreword.adapters.claude_agent_sdk import agent_options

    @sdk.tool("read_page", "Reads a page", {})
    async def read_page(args: object) -> dict[str, object]:
        return {"content": [{"type": "text", "text": ATTACK}]}

    @sdk.tool("set_alarm", "Rings at a given time", {"at": str})
    async def set_alarm(args: object) -> dict[str, object]:
        return {"content": [{"type": "text", "text": "done"}]}

    picked = foreword.select("read the page for me", [set_alarm, read_page])
    assert picked[0] is read_page
    model.tool = "mcp__web__read_page"
    options = sdk.ClaudeAgentOptions(
        **agent_options(built),
        cwd=tmp_path,
        env=claude_environment(model, tmp_path),
        max_turns=3,
        mcp_servers={"web": sdk.create_sdk_mcp_server("web", tools=picked)},
        allowed_tools=[model.tool],
    )
    assert "ok" in asyncio.run(asyncio.wait_for(said_by_claude(sdk, options), 120))
    results = [
        block
        for body in model.bodies
        for message in body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    assert results and all(f"> {ATTACK}" in str(result["content"]) for result in results), results


def claude_environment(model: Recorder, directory: Path) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "x",
        "CLAUDE_CONFIG_DIR": str(directory / "claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "ENABLE_TOOL_SEARCH": "false",
    }


async def said_by_claude(sdk: Any, options: Any) -> list[str]:
    texts: list[str] = []
    async for message in sdk.query(prompt=TASK, options=options):
        if isinstance(message, sdk.AssistantMessage):
            texts += [block.text for block in message.content if hasattr(block, "text")]
    return texts


def test_langchain_tools_are_selected_as_they_are() -> None:
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
