// The adapters with the SDKs' own types; tsc checks it, nothing runs it.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { Workspace, select, type Prompt } from "foreword";
import { request, toolResult } from "foreword/adapters/anthropic";
import { chat, responses, toolMessage, toolOutput } from "foreword/adapters/openai";
import { guard, guardValue } from "foreword/adapters/guard";
const workspace = new Workspace("x");
const prompt: Prompt = workspace.build({ task: "x" });
const messages: Anthropic.MessageParam[] = [{ role: "user", content: "x" }];
const tools: Anthropic.Tool[] = [{ name: "a", input_schema: { type: "object" } }];
async function f(client: Anthropic, openai: OpenAI) {
  const picked: Anthropic.Tool[] = await select("x", tools);
  const answer = await client.messages.create({ model: "m", max_tokens: 10, tools: picked, ...request(prompt, messages) });
  for (const block of answer.content) if (block.type === "tool_use") messages.push({ role: "user", content: [await toolResult(block, "x")] });
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: "x" }];
  const r = await openai.responses.create({ model: "m", ...responses(prompt, input) });
  for (const item of r.output) if (item.type === "function_call") input.push(item, await toolOutput(item, "x"));
  const said: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "x" }];
  const c = await openai.chat.completions.create({ model: "m", ...chat(prompt, said) });
  for (const call of c.choices[0]?.message.tool_calls ?? []) if (call.type === "function") said.push(await toolMessage(call, "x"));
  const judged: { page: string } = await guardValue({ page: "x" });
  return [await guard("x", { tool: "t" }), judged];
}
// @ts-expect-error the fields of a request
const wrong: number = request(prompt, messages);
export { f, wrong };
