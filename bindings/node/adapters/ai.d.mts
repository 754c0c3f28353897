import type { Prompt } from "../index.js";

/** The system prompt as messages, each a place up to which the provider may cache. */
export function instructions(prompt: Prompt): {
  role: "system";
  content: string;
  providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } };
}[];
/** The `prepareStep` of a call: builds the prompt of every step from the newest message of the user. */
export function prepareStep(build: (task: string) => Prompt): (options: { messages: any[] }) => {
  instructions: ReturnType<typeof instructions>;
  messages: any[];
};
/** The tools that fit a task, best first: the same tool objects under the same names. */
export function selectTools<T extends object>(
  task: string,
  tools: T,
  options?: { maxTools?: number; maxResults?: number; minScore?: number },
): Promise<Record<string, T[keyof T]>>;
/** The tools with what they bring back judged before the model reads it. The given tools stay as they are. */
export function guardTools<T extends object>(tools: T): T;
