// The Anthropic SDK: client.messages.create({ model, max_tokens, ...request(prompt, messages) })

import { guardValue } from "./guard.mjs";

/** `system` and `messages` of a request: cached blocks, and the turn context in its place. */
export function request(prompt, messages) {
  return { system: prompt.toAnthropic().system, messages: withTurnContext(prompt.turnContext, messages) };
}

/**
 * The messages with the turn context in front of the newest message of the user. Messages that only carry tool
 * results are not the user's. The given messages stay as they are.
 */
export function withTurnContext(turnContext, messages) {
  const out = messages.map((message) => ({ ...message }));
  if (!turnContext) return out;
  const block = { type: "text", text: turnContext };
  for (let at = out.length - 1; at >= 0; at--) {
    const { role, content } = out[at];
    const onlyResults =
      Array.isArray(content) && content.length > 0 && content.every((part) => part.type === "tool_result");
    if (role !== "user" || onlyResults) continue;
    const given = typeof content === "string" ? [{ type: "text", text: content }] : content;
    out[at].content = [block, ...given];
    return out;
  }
  return [...out, { role: "user", content: [block] }];
}

/** The `tool_result` block for a `tool_use` block, with its content judged by `guard`. */
export async function toolResult(toolUse, content) {
  const judged = await guardValue(content, { tool: toolUse.name });
  return { type: "tool_result", tool_use_id: toolUse.id, content: judged };
}
