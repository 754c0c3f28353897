// @anthropic-ai/claude-agent-sdk:
//   const options = { ...agentOptions((task) => workspace.build({ task })), cwd };
//   for await (const message of query({ prompt: task, options })) …

import { guardValue } from "./guard.mjs";

/**
 * `systemPrompt` and `hooks` of a query. The system prompt is built once, for the session. Each message of the user
 * brings the turn context for it as additional context. What tools bring back is judged before the model reads it.
 */
export function agentOptions(build) {
  const addTurnContext = async (given) => {
    const additionalContext = build(given.prompt ?? "").turnContext;
    return additionalContext ? { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext } } : {};
  };
  const judgeResult = async (given) => {
    const updatedToolOutput = await guardValue(given.tool_response, { tool: given.tool_name });
    if (updatedToolOutput === given.tool_response) return {};
    return { hookSpecificOutput: { hookEventName: "PostToolUse", updatedToolOutput } };
  };
  return {
    systemPrompt: build("").system,
    hooks: { UserPromptSubmit: [{ hooks: [addTurnContext] }], PostToolUse: [{ hooks: [judgeResult] }] },
  };
}
