"""The Claude Agent SDK: the system prompt of the session, and hooks for turns and tool results."""

import asyncio
import os
import sys

import foreword
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    TextBlock,
    create_sdk_mcp_server,
    query,
    tool,
)
from foreword.adapters.claude_agent_sdk import agent_options

TASK = "What should I do first today?"
WORKSPACE = foreword.Workspace(sys.argv[1] if sys.argv[1:] else "examples/standard")


@tool("read_notes", "Read the notes of the day", {})
async def read_notes(args: object) -> dict[str, object]:
    return {"content": [{"type": "text", "text": "Call Ada before noon."}]}


@tool("set_alarm", "Ring at a given time", {"at": str})
async def set_alarm(args: object) -> dict[str, object]:
    return {"content": [{"type": "text", "text": "done"}]}


async def main() -> None:
    picked = foreword.select("read my notes", [read_notes, set_alarm])
    options = ClaudeAgentOptions(
        **agent_options(WORKSPACE.build),
        mcp_servers={"notes": create_sdk_mcp_server("notes", tools=list(picked))},
        allowed_tools=["mcp__notes__read_notes"],
        max_turns=4,
        env=dict(os.environ),
    )
    async for message in query(prompt=TASK, options=options):
        if isinstance(message, AssistantMessage):
            print("".join(block.text for block in message.content if isinstance(block, TextBlock)))


asyncio.run(main())
