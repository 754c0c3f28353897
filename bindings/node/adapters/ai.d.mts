import type { Prompt } from "../index";

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
