import type { Prompt } from "../index.js";

export interface UserMessage {
  role: "user";
  content: string;
}
/** `instructions`, `input` and `prompt_cache_key` of a request to the Responses API. */
export function responses<I extends object = UserMessage>(
  prompt: Prompt,
  input: string | readonly I[],
): { instructions: string; input: (I | UserMessage)[]; prompt_cache_key: string };
/** `messages` and `prompt_cache_key` of a request to Chat Completions. */
export function chat<M extends object = UserMessage>(
  prompt: Prompt,
  messages: string | readonly M[],
): { messages: (M | UserMessage | { role: "system"; content: string })[]; prompt_cache_key: string };
/** The input with the turn context as a message of its own in front of the user's newest one. */
export function inputWithTurnContext<I extends object = UserMessage>(
  turnContext: string,
  input: string | readonly I[],
): (I | UserMessage)[];
/** The `function_call_output` for a `function_call` of the Responses API, judged by `guard`. */
export function toolOutput(
  call: { call_id: string; name: string },
  output: string,
): Promise<{ type: "function_call_output"; call_id: string; output: string }>;
/** The `tool` message for a tool call of Chat Completions, judged by `guard`. */
export function toolMessage(
  call: { id: string; function: { name: string } },
  content: string,
): Promise<{ role: "tool"; tool_call_id: string; content: string }>;
