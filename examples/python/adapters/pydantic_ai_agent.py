"""Pydantic AI: instructions for a run, and tools whose results are judged."""

import sys

import foreword
from foreword.adapters.pydantic_ai import guard_tools, instructions
from pydantic_ai import Agent, Tool
from pydantic_ai.models.anthropic import AnthropicModelSettings

TASK = "What should I do first today?"
WORKSPACE = foreword.Workspace(sys.argv[1] if sys.argv[1:] else "examples/standard")


def read_notes() -> str:
    """Read the notes of the day."""
    return "Call Ada before noon."


def set_alarm(at: str) -> str:
    """Ring at a given time."""
    return f"set for {at}"


agent = Agent(
    "anthropic:claude-sonnet-5-5",
    tools=foreword.select("read my notes", [Tool(read_notes), Tool(set_alarm)]),
    capabilities=[guard_tools()],
    model_settings=AnthropicModelSettings(anthropic_cache_instructions=True),
)
result = agent.run_sync(TASK, instructions=instructions(WORKSPACE.build(TASK)))
print(result.output)
