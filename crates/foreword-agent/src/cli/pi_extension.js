// Gives pi the tools that the host carries out. Started with three variables: where the bridge
// listens, the token for calls, and a file with the tools as JSON.
import { readFileSync } from "node:fs";

export default function (pi) {
  const url = process.env.FOREWORD_BRIDGE + "/foreword/call";
  const token = process.env.FOREWORD_CALL_TOKEN;
  // Commands that the agent runs need not see it.
  delete process.env.FOREWORD_CALL_TOKEN;
  // The host decides about pi's own tools, too. Those below are decided where they are carried out.
  const own = { bash: "bash", read: "read", write: "write", edit: "edit", ls: "list", grep: "search", find: "list" };
  pi.on("tool_call", async (event) => {
    const name = own[event.toolName];
    if (!name) return undefined;
    const response = await fetch(process.env.FOREWORD_BRIDGE + "/foreword/permit", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer " + token },
      body: JSON.stringify({ name, input: event.input ?? {} }),
    });
    if (response.ok) return undefined;
    const answer = await response.json().catch(() => undefined);
    return { block: true, reason: answer?.error?.message ?? "the host did not allow it" };
  });
  const tools = JSON.parse(readFileSync(process.env.FOREWORD_TOOLS, "utf8"));
  for (const tool of tools) {
    pi.registerTool({
      name: tool.name,
      label: tool.name,
      description: tool.description,
      parameters: tool.inputSchema,
      async execute(_id, input, signal) {
        const response = await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: "Bearer " + token },
          body: JSON.stringify({ name: tool.name, input: input ?? {} }),
          signal,
        });
        const answer = await response.json();
        if (!response.ok) throw new Error(answer?.error?.message ?? "the host did not answer");
        return { content: [{ type: "text", text: answer.content }], details: {} };
      },
    });
  }
}
