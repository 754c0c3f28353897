"""Google's Agent Development Kit: a static instruction that Gemini caches, and judged tool responses."""

import asyncio
import sys

import foreword
from foreword.adapters.google_adk import guard_tool_response, instructions
from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool

TASK = "What should I do first today?"
WORKSPACE = foreword.Workspace(sys.argv[1] if sys.argv[1:] else "examples/standard")


def read_notes() -> str:
    """Read the notes of the day."""
    return "Call Ada before noon."


def set_alarm(at: str) -> str:
    """Ring at a given time."""
    return f"set for {at}"


agent = LlmAgent(
    name="pickle",
    model="gemini-2.5-flash",
    tools=list(foreword.select("read my notes", [FunctionTool(read_notes), FunctionTool(set_alarm)])),
    after_tool_callback=guard_tool_response,
    **instructions(WORKSPACE.build),
)
events = asyncio.run(InMemoryRunner(agent=agent, app_name="notes").run_debug(TASK, quiet=True))
print("".join(part.text or "" for part in events[-1].content.parts))
