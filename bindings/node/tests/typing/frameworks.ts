// The adapters with the frameworks' own types; tsc checks it, nothing runs it.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createSdkMcpServer, query, tool as claudeTool } from "@anthropic-ai/claude-agent-sdk";
import { Agent, Runner, tool as agentTool } from "@openai/agents";
import { generateText, tool as aiTool } from "ai";
import { select, Workspace } from "foreword";
import { guardTools as guardAi, prepareStep, selectTools } from "foreword/adapters/ai";
import { agentOptions } from "foreword/adapters/claude-agent-sdk";
import { foreword, guardTools } from "foreword/adapters/openai-agents";
import { z } from "zod";

const workspace = new Workspace("x");
const build = (task: string) => workspace.build({ task });

export async function openaiAgents() {
  const read = agentTool({ name: "read", description: "Reads", parameters: z.object({}), execute: async () => "x" });
  const fore = foreword(build);
  const tools = guardTools(await select("read", [read]));
  const agent = new Agent({ name: "Pickle", instructions: fore.instructions, tools });
  return new Runner({ callModelInputFilter: fore.inputFilter }).run(agent, "x");
}

export async function vercel() {
  const read = aiTool({ description: "Reads", inputSchema: z.object({}), execute: async () => "x" });
  const tools = guardAi(await selectTools("read", { read }));
  const model = createAnthropic()("claude-sonnet-5-5");
  return generateText({ model, prompt: "x", tools, prepareStep: prepareStep(build) });
}

export async function claude() {
  const read = claudeTool("read", "Reads", {}, async () => ({ content: [{ type: "text", text: "x" }] }));
  const notes = createSdkMcpServer({ name: "notes", tools: await select("read", [read]) });
  return query({ prompt: "x", options: { ...agentOptions(build), mcpServers: { notes } } });
}
