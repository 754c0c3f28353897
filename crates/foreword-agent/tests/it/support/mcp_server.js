#!/usr/bin/env node
// Stands for `foreword mcp --socket`: just enough MCP to show that the program is led to it.
import { connect } from "node:net";
import { createInterface } from "node:readline";

const [command, flag, socket] = process.argv.slice(2);
if (command !== "mcp" || flag !== "--socket") process.exit(2);
const host = connect(socket);
const waiting = new Map();
let last = 0;
createInterface({ input: host }).on("line", (line) => {
  const reply = JSON.parse(line);
  waiting.get(reply.id)?.(reply);
});
const tool = {
  name: "skill_propose",
  description: "Propose a skill.",
  inputSchema: { type: "object", properties: { skill: { type: "string" }, content: { type: "string" } } },
};
const answers = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "test", version: "0" },
  }),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": async (params) => {
    const id = ++last;
    const reply = new Promise((done) => waiting.set(id, done));
    const token = process.env.FOREWORD_SESSION_TOKEN;
    host.write(JSON.stringify({ id, token, action: params.name, args: params.arguments }) + "\n");
    const { ok, result, error } = await reply;
    return { content: [{ type: "text", text: ok ? result : error.message }], isError: !ok };
  },
};
createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const result = (await answers[method]?.(params)) ?? {};
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\n");
  })
  .on("close", () => process.exit(0));
