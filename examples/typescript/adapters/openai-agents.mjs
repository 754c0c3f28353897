// @openai/agents: instructions that stay cached, and tools whose results are judged.
import { Agent, Runner, tool } from "@openai/agents";
import { select, Workspace } from "foreword";
import { foreword, guardTools } from "foreword/adapters/openai-agents";
import { z } from "zod";

const task = "What should I do first today?";
const workspace = new Workspace(process.argv[2] ?? "examples/standard");
const all = [
  tool({
    name: "read_notes", description: "Read the notes of the day", parameters: z.object({}),
    execute: async () => "Call Ada before noon.",
  }),
  tool({
    name: "set_alarm", description: "Ring at a given time", parameters: z.object({ at: z.string() }),
    execute: async ({ at }) => `set for ${at}`,
  }),
];

const fore = foreword((task) => workspace.build({ task }));
const tools = guardTools(await select("read my notes", all));
const agent = new Agent({ name: "Pickle", model: "gpt-5", instructions: fore.instructions, tools });
const result = await new Runner({ callModelInputFilter: fore.inputFilter }).run(agent, task);
console.log(result.finalOutput);
