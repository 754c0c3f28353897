"""LangChain 1.x: middleware for the prompt, and for what tools bring back."""

import sys

import foreword
from foreword.adapters.langchain import guard_tools, middleware
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool

TASK = "What should I do first today?"
WORKSPACE = foreword.Workspace(sys.argv[1] if sys.argv[1:] else "examples/standard")


@tool
def read_notes() -> str:
    """Read the notes of the day."""
    return "Call Ada before noon."


@tool
def set_alarm(at: str) -> str:
    """Ring at a given time."""
    return f"set for {at}"


agent = create_agent(
    ChatAnthropic(model="claude-sonnet-5-5", max_tokens=1024),
    tools=foreword.select("read my notes", [read_notes, set_alarm]),
    middleware=[middleware(WORKSPACE.build), guard_tools()],
)
result = agent.invoke({"messages": [{"role": "user", "content": TASK}]})
print(result["messages"][-1].text)
