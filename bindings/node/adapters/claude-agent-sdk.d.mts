import type { Prompt } from "../index.js";

type Hook = (input: any, toolUseId: string | undefined, options: { signal: AbortSignal }) => Promise<any>;

/**
 * `systemPrompt` and `hooks` of a query. The system prompt is built once, for the session. Each message of the user
 * brings the turn context for it as additional context. What tools bring back is judged before the model reads it.
 */
export function agentOptions(build: (task: string) => Prompt): {
  systemPrompt: string;
  hooks: { UserPromptSubmit: { hooks: Hook[] }[]; PostToolUse: { hooks: Hook[] }[] };
};
