"""The OpenAI Agents SDK: instructions that stay cached, and tools whose results are judged."""

import sys

import foreword
from agents import Agent, RunConfig, Runner, function_tool
from foreword.adapters.openai_agents import Foreword, guard_tools

TASK = "What should I do first today?"
WORKSPACE = foreword.Workspace(sys.argv[1] if sys.argv[1:] else "examples/standard")


@function_tool
def read_notes() -> str:
    """Read the notes of the day."""
    return "Call Ada before noon."


@function_tool
def set_alarm(at: str) -> str:
    """Ring at a given time."""
    return f"set for {at}"


fore = Foreword(WORKSPACE.build)
tools = foreword.select("read my notes", [read_notes, set_alarm])
agent = Agent(name="Pickle", model="gpt-5", instructions=fore.instructions, tools=guard_tools(tools))
result = Runner.run_sync(agent, TASK, run_config=RunConfig(call_model_input_filter=fore.input_filter))
print(result.final_output)
