// The Vercel AI SDK 7:
//   const build = (task) => workspace.build({ task });
//   const tools = guardTools(await selectTools(task, allTools));
//   await generateText({ model, messages, tools, prepareStep: prepareStep(build) });

import { select } from "../index.mjs";
import { guardValue } from "./guard.mjs";

const ephemeral = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** The system prompt as messages, each a place up to which the provider may cache. */
export function instructions(prompt) {
  return prompt
    .toAnthropic()
    .system.map(({ text }) => ({ role: "system", content: text, providerOptions: ephemeral }));
}

/** The `prepareStep` of a call: builds the prompt of every step from the newest message of the user. */
export function prepareStep(build) {
  return ({ messages }) => {
    const at = messages.findLastIndex((message) => message.role === "user");
    const prompt = build(textOf(messages[at]));
    const out = [...messages];
    if (prompt.turnContext) {
      const turn = { role: "user", content: [{ type: "text", text: prompt.turnContext }] };
      out.splice(at < 0 ? out.length : at, 0, turn);
    }
    return { instructions: instructions(prompt), messages: out };
  };
}

function textOf(message) {
  if (typeof message?.content === "string") return message.content;
  return (message?.content ?? []).map((part) => part.text ?? "").join("\n");
}

/** The tools that fit a task, best first: the same tool objects under the same names. */
export async function selectTools(task, tools, options = {}) {
  const describe = ([name, tool]) => ({ name, description: tool.description ?? "" });
  return Object.fromEntries(await select(task, Object.entries(tools), { describe, ...options }));
}

/** The tools with what they bring back judged before the model reads it. The given tools stay as they are. */
export function guardTools(tools) {
  const guarded = ([name, tool]) => {
    if (typeof tool.execute !== "function") return [name, tool];
    const execute = (...args) => {
      const result = tool.execute(...args);
      if (typeof result?.[Symbol.asyncIterator] === "function") return guardedStream(result, name);
      return Promise.resolve(result).then((value) => guardValue(value, { tool: name }));
    };
    return [name, { ...tool, execute }];
  };
  return Object.fromEntries(Object.entries(tools).map(guarded));
}

async function* guardedStream(results, tool) {
  for await (const value of results) yield await guardValue(value, { tool });
}
