// The OpenAI SDK: the Responses API with a tool, and Chat Completions.
import { Workspace } from "foreword";
import { chat, responses, toolOutput } from "foreword/adapters/openai";
import OpenAI from "openai";

const task = "What should I do first today?";
const workspace = new Workspace(process.argv[2] ?? "examples/standard");
const tools = [
  { type: "function", name: "read_notes", description: "Read the notes of the day", parameters: {}, strict: false },
];
const client = new OpenAI();
const prompt = workspace.build({ task });
const input = [{ role: "user", content: task }];
for (;;) {
  const answer = await client.responses.create({ model: "gpt-5", tools, ...responses(prompt, input) });
  const calls = answer.output.filter((item) => item.type === "function_call");
  if (calls.length === 0) {
    console.log(answer.output_text);
    break;
  }
  for (const call of calls) input.push(call, await toolOutput(call, "Call Ada before noon."));
}
const again = await client.chat.completions.create({ model: "gpt-5", ...chat(prompt, task) });
console.log(again.choices[0].message.content);
