// The OpenAI SDK: client.responses.create({ model, ...responses(prompt, input) }), or
// client.chat.completions.create({ model, ...chat(prompt, messages) })

import { guard } from "./guard.mjs";

/** `instructions`, `input` and `prompt_cache_key` of a request to the Responses API. */
export function responses(prompt, input) {
  const { instructions, prompt_cache_key } = prompt.toResponses();
  return { instructions, input: inputWithTurnContext(prompt.turnContext, input), prompt_cache_key };
}

/** `messages` and `prompt_cache_key` of a request to Chat Completions. */
export function chat(prompt, messages) {
  const conversation = inputWithTurnContext(prompt.turnContext, messages);
  const system = prompt.system ? [{ role: "system", content: prompt.system }] : [];
  return { messages: [...system, ...conversation], prompt_cache_key: prompt.toOpenAI().prompt_cache_key };
}

/** The input with the turn context as a message of its own in front of the user's newest one. */
export function inputWithTurnContext(turnContext, input) {
  const out = typeof input === "string" ? [{ role: "user", content: input }] : [...input];
  if (!turnContext) return out;
  const newest = out.findLastIndex((item) => item.role === "user");
  out.splice(newest < 0 ? out.length : newest, 0, { role: "user", content: turnContext });
  return out;
}

/** The `function_call_output` for a `function_call` of the Responses API, judged by `guard`. */
export async function toolOutput(call, output) {
  return { type: "function_call_output", call_id: call.call_id, output: await guard(output, { tool: call.name }) };
}

/** The `tool` message for a tool call of Chat Completions, judged by `guard`. */
export async function toolMessage(call, content) {
  return { role: "tool", tool_call_id: call.id, content: await guard(content, { tool: call.function.name }) };
}
