// The Vercel AI SDK 7: a prompt for every step, and tools whose results are judged. Needs Node.js 22 or later.
import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, stepCountIs, tool } from "ai";
import { Workspace } from "foreword";
import { guardTools, prepareStep, selectTools } from "foreword/adapters/ai";
import { z } from "zod";

const task = "What should I do first today?";
const workspace = new Workspace(process.argv[2] ?? "examples/standard");
const anthropic = createAnthropic({ baseURL: `${process.env.ANTHROPIC_BASE_URL ?? "https://api.anthropic.com"}/v1` });
const all = {
  read_notes: tool({
    description: "Read the notes of the day", inputSchema: z.object({}), execute: async () => "Call Ada before noon.",
  }),
  set_alarm: tool({
    description: "Ring at a given time", inputSchema: z.object({ at: z.string() }), execute: async () => "done",
  }),
};

const { text } = await generateText({
  model: anthropic("claude-sonnet-5-5"),
  messages: [{ role: "user", content: task }],
  tools: guardTools(await selectTools("read my notes", all)),
  prepareStep: prepareStep((task) => workspace.build({ task })),
  stopWhen: stepCountIs(4),
});
console.log(text);
