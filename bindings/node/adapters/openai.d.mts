import type { Prompt } from "../index";

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
