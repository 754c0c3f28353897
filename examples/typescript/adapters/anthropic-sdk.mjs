// The Anthropic SDK, with a tool whose results are judged before the model reads them.
import Anthropic from "@anthropic-ai/sdk";
import { select, Workspace } from "foreword";
import { request, toolResult } from "foreword/adapters/anthropic";

const task = "What should I do first today?";
const workspace = new Workspace(process.argv[2] ?? "examples/standard");
const all = [
  { name: "read_notes", description: "Read the notes of the day", input_schema: { type: "object" } },
  { name: "set_alarm", description: "Ring at a given time", input_schema: { type: "object" } },
];
const run = (name) => (name === "read_notes" ? "Call Ada before noon." : "done");

const client = new Anthropic();
const prompt = workspace.build({ task });
const tools = await select("read my notes", all);
const messages = [{ role: "user", content: task }];
for (;;) {
  const answer = await client.messages.create({
    model: "claude-sonnet-5-5", max_tokens: 1024, tools, ...request(prompt, messages),
  });
  messages.push({ role: "assistant", content: answer.content });
  const uses = answer.content.filter((block) => block.type === "tool_use");
  if (uses.length === 0) {
    console.log(answer.content.map((block) => block.text ?? "").join(""));
    break;
  }
  const content = await Promise.all(uses.map((use) => toolResult(use, run(use.name))));
  messages.push({ role: "user", content });
}
