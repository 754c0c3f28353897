"""The Anthropic SDK, with a tool whose results are judged before the model reads them."""

import sys

import anthropic
import foreword
from foreword.adapters.anthropic import request, tool_result

TASK = "What should I do first today?"
WORKSPACE = foreword.Workspace(sys.argv[1] if sys.argv[1:] else "examples/standard")

tools = [
    {"name": "read_notes", "description": "Read the notes of the day", "input_schema": {"type": "object"}},
    {"name": "set_alarm", "description": "Ring at a given time", "input_schema": {"type": "object"}},
]


def run(name: str) -> str:
    return "Call Ada before noon." if name == "read_notes" else "done"


client = anthropic.Anthropic()
prompt = WORKSPACE.build(TASK)
picked = foreword.select("read my notes", tools)
messages = [{"role": "user", "content": TASK}]
while True:
    answer = client.messages.create(
        model="claude-sonnet-5-5", max_tokens=1024, tools=picked, **request(prompt, messages)
    )
    messages.append({"role": "assistant", "content": [block.to_dict() for block in answer.content]})
    uses = [block for block in answer.content if block.type == "tool_use"]
    if not uses:
        break
    messages.append({"role": "user", "content": [tool_result(use, run(use.name)) for use in uses]})
print("".join(block.text for block in answer.content if block.type == "text"))
