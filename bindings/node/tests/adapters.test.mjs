// The SDKs and frameworks themselves, against a model on this machine that records what arrives.
// FOREWORD_TEST_ADAPTERS names a directory with their packages in node_modules.
import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "node:test";

process.env.FOREWORD_CONFIG_DIR = fs.mkdtempSync(path.join(os.tmpdir(), "foreword-config-"));
process.env.OPENAI_AGENTS_DISABLE_TRACING = "1";
const foreword = await import("../index.mjs");
const TASK = "plan my week";

const built = (task) =>
  foreword.build({
    context: {
      task,
      identityFiles: { agent: "You are Pickle." },
      memories: ["Ada likes tea"],
      now: "2026-02-26T14:30:00Z",
      git: { branch: "main", summary: "clean" },
    },
  });

/** A package of the test's own directory; undefined where it is not installed. */
async function installed(name) {
  const home = process.env.FOREWORD_TEST_ADAPTERS;
  if (!home) return undefined;
  try {
    const require = createRequire(path.join(home, "package.json"));
    return await import(pathToFileURL(require.resolve(name)).href);
  } catch (error) {
    if (["MODULE_NOT_FOUND", "ERR_PACKAGE_PATH_NOT_EXPORTED"].includes(error.code)) return undefined;
    throw error;
  }
}

function answer(url, body) {
  if (url.endsWith("/messages")) {
    return {
      id: "m", type: "message", role: "assistant", model: body.model, content: [{ type: "text", text: "ok" }],
      stop_reason: "end_turn", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 },
    };
  }
  if (url.endsWith("/responses")) {
    const text = { type: "output_text", text: "ok", annotations: [] };
    return {
      id: "r", object: "response", created_at: 0, status: "completed", model: body.model,
      output: [{ type: "message", id: "x", status: "completed", role: "assistant", content: [text] }],
      parallel_tool_calls: true, tool_choice: "auto", tools: [],
      usage: {
        input_tokens: 1, output_tokens: 1, total_tokens: 2,
        input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 },
      },
    };
  }
  return {
    id: "c", object: "chat.completion", created: 0, model: body.model,
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "ok" } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

/** Runs work with a model that records; gives the requests. */
async function recorded(work) {
  const bodies = [];
  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString());
    bodies.push(body);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answer(request.url, body)));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    await work(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
  return bodies;
}

test("the Anthropic SDK", async (t) => {
  const sdk = await installed("@anthropic-ai/sdk");
  if (!sdk) return t.skip("@anthropic-ai/sdk is not installed");
  const { request, withTurnContext } = await import("../adapters/anthropic.mjs");
  const prompt = built(TASK);
  const history = [
    { role: "user", content: "hello" },
    { role: "assistant", content: "hi" },
    { role: "user", content: TASK },
  ];
  const [body] = await recorded((baseURL) =>
    new sdk.default({ apiKey: "x", baseURL, maxRetries: 0 }).messages.create({
      model: "m", max_tokens: 10, ...request(prompt, history),
    }),
  );
  assert.equal(body.system.map((block) => block.text).join(""), prompt.system);
  assert.equal(body.system[0].text, prompt.stable);
  assert.ok(body.system.every((block) => block.cache_control.type === "ephemeral"));
  assert.deepEqual(body.messages.slice(0, 2), history.slice(0, 2));
  assert.deepEqual(body.messages[2].content.map((part) => part.text), [prompt.turnContext, TASK]);
  const results = [{ role: "user", content: "x" }, { role: "user", content: [{ type: "tool_result" }] }];
  assert.equal(withTurnContext("now", results)[0].content[0].text, "now");
});

test("the OpenAI SDK", async (t) => {
  const sdk = await installed("openai");
  if (!sdk) return t.skip("openai is not installed");
  const { chat, responses } = await import("../adapters/openai.mjs");
  const prompt = built(TASK);
  const [first, second] = await recorded(async (url) => {
    const client = new sdk.default({ apiKey: "x", baseURL: `${url}/v1`, maxRetries: 0 });
    await client.responses.create({ model: "m", ...responses(prompt, TASK) });
    await client.chat.completions.create({ model: "m", ...chat(prompt, [{ role: "user", content: TASK }]) });
  });
  assert.equal(first.instructions, prompt.system);
  assert.deepEqual(first.input.map((item) => item.content), [prompt.turnContext, TASK]);
  assert.deepEqual(second.messages.map((message) => message.content), [prompt.system, prompt.turnContext, TASK]);
});

test("@openai/agents", async (t) => {
  const agents = await installed("@openai/agents");
  const sdk = await installed("openai");
  if (!agents || !sdk) return t.skip("@openai/agents is not installed");
  const adapter = await import("../adapters/openai-agents.mjs");
  const prompt = built(TASK);
  const [body] = await recorded(async (url) => {
    const client = new sdk.default({ apiKey: "x", baseURL: `${url}/v1`, maxRetries: 0 });
    const fore = adapter.foreword(built);
    const model = new agents.OpenAIResponsesModel(client, "m");
    const agent = new agents.Agent({ name: "Pickle", instructions: fore.instructions, model });
    const runner = new agents.Runner({ tracingDisabled: true, callModelInputFilter: fore.inputFilter });
    const result = await runner.run(agent, TASK);
    assert.equal(result.finalOutput, "ok");
  });
  assert.equal(body.instructions, prompt.system);
  const said = body.input.map((item) => (typeof item.content === "string" ? item.content : item.content[0].text));
  assert.deepEqual(said, [prompt.turnContext, TASK]);
});

test("the Vercel AI SDK", async (t) => {
  if (Number(process.versions.node.split(".")[0]) < 22) return t.skip("ai 7 needs Node 22 or later");
  const ai = await installed("ai");
  const provider = await installed("@ai-sdk/anthropic");
  if (!ai || !provider) return t.skip("ai is not installed");
  const { prepareStep } = await import("../adapters/ai.mjs");
  const prompt = built(TASK);
  const [body] = await recorded(async (url) => {
    const anthropic = provider.createAnthropic({ apiKey: "x", baseURL: `${url}/v1` });
    const messages = [{ role: "user", content: TASK }];
    const done = await ai.generateText({
      model: anthropic("claude-sonnet-4-5"), messages, prepareStep: prepareStep(built), maxRetries: 0,
    });
    assert.equal(done.text, "ok");
  });
  assert.equal(body.system.map((block) => block.text).join(""), prompt.system);
  assert.ok(body.system.every((block) => block.cache_control?.type === "ephemeral"));
  const said = body.messages.flatMap((message) => message.content.map((part) => part.text));
  assert.deepEqual(said, [prompt.turnContext, TASK]);
});
