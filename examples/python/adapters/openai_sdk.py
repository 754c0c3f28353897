"""The OpenAI SDK: the Responses API with a tool, and Chat Completions."""

import sys

import foreword
import openai
from foreword.adapters.openai import chat, responses, tool_output

TASK = "What should I do first today?"
WORKSPACE = foreword.Workspace(sys.argv[1] if sys.argv[1:] else "examples/standard")

tools = [
    {"type": "function", "name": "read_notes", "description": "Read the notes of the day", "parameters": {}},
]
client = openai.OpenAI()
prompt = WORKSPACE.build(TASK)
items = [{"role": "user", "content": TASK}]
while True:
    answer = client.responses.create(model="gpt-5", tools=tools, **responses(prompt, items))
    calls = [item for item in answer.output if item.type == "function_call"]
    if not calls:
        break
    for call in calls:
        items += [call.to_dict(), tool_output(call, "Call Ada before noon.")]
print(answer.output_text)

again = client.chat.completions.create(model="gpt-5", **chat(prompt, TASK))
print(again.choices[0].message.content)
