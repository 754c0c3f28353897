// @openai/agents:
//   const fore = foreword((task) => workspace.build({ task }));
//   const agent = new Agent({ name, instructions: fore.instructions, tools: guardTools(tools) });
//   await new Runner({ callModelInputFilter: fore.inputFilter }).run(agent, task);

import { guard } from "./guard.mjs";
import { inputWithTurnContext } from "./openai.mjs";

/** Builds the prompt of every model call of a run. `build` gets the newest message of the user. */
export function foreword(build) {
  let last;
  const promptFor = (task) => {
    if (last?.task !== task) last = { task, prompt: build(task) };
    return last.prompt;
  };
  return {
    instructions: () => promptFor(last?.task ?? "").system,
    inputFilter: ({ modelData }) => {
      const prompt = promptFor(newest(modelData.input));
      return { input: inputWithTurnContext(prompt.turnContext, modelData.input), instructions: prompt.system };
    },
  };
}

/** The newest text of the user. */
function newest(items) {
  const item = items.findLast((item) => item.role === "user");
  if (typeof item?.content === "string") return item.content;
  return (item?.content ?? []).map((part) => part.text ?? "").join("\n");
}

/** The tools with an output guardrail on every function tool. The given tools stay as they are. */
export function guardTools(tools) {
  return tools.map((tool) =>
    tool.type === "function" ? { ...tool, outputGuardrails: [...(tool.outputGuardrails ?? []), guardrail] } : tool,
  );
}

const guardrail = {
  type: "tool_output",
  name: "foreword",
  async run({ output, toolCall }) {
    const text = typeof output === "string" ? output : (JSON.stringify(output) ?? "");
    const message = await guard(text, { tool: toolCall.name });
    return { behavior: message === text ? { type: "allow" } : { type: "rejectContent", message } };
  },
};
