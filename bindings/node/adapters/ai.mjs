// The Vercel AI SDK 7:
//   await generateText({ model, messages, prepareStep: prepareStep((task) => workspace.build({ task })) });

const ephemeral = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** The system prompt as messages, each a place up to which the provider may cache. */
export function instructions(prompt) {
  return prompt
    .toAnthropic()
    .system.map(({ text }) => ({ role: "system", content: text, providerOptions: ephemeral }));
}

/** The `prepareStep` of a call: builds the prompt of every step from the newest message of the user. */
export function prepareStep(build) {
  return ({ messages }) => {
    const at = messages.findLastIndex((message) => message.role === "user");
    const prompt = build(textOf(messages[at]));
    const out = [...messages];
    if (prompt.turnContext) {
      const turn = { role: "user", content: [{ type: "text", text: prompt.turnContext }] };
      out.splice(at < 0 ? out.length : at, 0, turn);
    }
    return { instructions: instructions(prompt), messages: out };
  };
}

function textOf(message) {
  if (typeof message?.content === "string") return message.content;
  return (message?.content ?? []).map((part) => part.text ?? "").join("\n");
}
