import type { Prompt } from "../index.js";
import type { AnthropicBlock } from "../types.js";

/** `system` and `messages` of a request: cached blocks, and the turn context in its place. */
export function request<M extends { role: string; content: unknown }>(
  prompt: Prompt,
  messages: readonly M[],
): { system: AnthropicBlock[]; messages: M[] };
/** The messages with the turn context in front of the newest message of the user. */
export function withTurnContext<M extends { role: string; content: unknown }>(
  turnContext: string,
  messages: readonly M[],
): M[];
/** The `tool_result` block for a `tool_use` block, with its content judged by `guard`. */
export function toolResult<C extends string | object[]>(
  toolUse: { id: string; name: string },
  content: C,
): Promise<{ type: "tool_result"; tool_use_id: string; content: C }>;
