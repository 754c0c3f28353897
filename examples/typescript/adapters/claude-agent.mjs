// The Claude Agent SDK: the system prompt of the session, and hooks for turns and tool results.
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { select, Workspace } from "foreword";
import { agentOptions } from "foreword/adapters/claude-agent-sdk";

const task = "What should I do first today?";
const workspace = new Workspace(process.argv[2] ?? "examples/standard");
const says = (text) => async () => ({ content: [{ type: "text", text }] });
const all = [
  tool("read_notes", "Read the notes of the day", {}, says("Call Ada before noon.")),
  tool("set_alarm", "Ring at a given time", {}, says("done")),
];

const options = {
  ...agentOptions((task) => workspace.build({ task })),
  mcpServers: { notes: createSdkMcpServer({ name: "notes", tools: await select("read my notes", all) }) },
  allowedTools: ["mcp__notes__read_notes"],
  maxTurns: 4,
};
for await (const message of query({ prompt: task, options })) {
  if (message.type === "result") console.log(message.result);
}
