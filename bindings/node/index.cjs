// Foreword for JavaScript: prompts, workspaces, scanning, screening, memories and skills.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { platformDirectory } = require("./native.cjs");

const directory = platformDirectory();
const native = require(path.join(directory, "foreword.node"));
const table = path.join(directory, "static.bin");
if (fs.existsSync(table)) native.setTableFile(table);

/** What is wrong (`message`), of what kind (`kind`), and what to do about it (`hints`). */
class ForewordError extends Error {
  constructor(kind, message, hints = []) {
    super(message);
    this.name = "ForewordError";
    this.kind = kind;
    this.hints = hints;
  }
}

const NO_WORKSPACE = "pass `context`, or `workspace` with a directory";

/** The exception for what the addon threw. */
function failure(error) {
  if (error instanceof ForewordError) return error;
  try {
    const { kind, message, hints } = JSON.parse(error.message);
    // The hint of the command line names its option.
    const own = message.startsWith("no workspace found") ? [NO_WORKSPACE, "create one with `foreword init`"] : hints;
    return new ForewordError(kind, message, own);
  } catch {
    return error;
  }
}

function attempt(work) {
  try {
    return work();
  } catch (error) {
    throw failure(error);
  }
}

/** Refuses what JSON would silently turn into null, and what UTF-8 cannot express. */
function refuseUnspeakable(key, value) {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new ForewordError("usage", `invalid parameters: \`${key}\` is ${value}, which is not a finite number`);
  }
  if ((typeof value === "string" && !value.isWellFormed()) || !key.isWellFormed()) {
    throw new ForewordError("usage", "invalid parameters: a text has a lone surrogate, which UTF-8 cannot express");
  }
  if (typeof value === "function" || typeof value === "symbol") {
    throw new ForewordError("usage", `invalid parameters: \`${key}\` is a ${typeof value}`);
  }
  return value;
}

/** Parameters as JSON text. */
function encode(params) {
  if (params === null || typeof params !== "object" || Array.isArray(params)) {
    const hints = typeof params === "string" ? ["pass an object, such as { task: … }"] : [];
    throw new ForewordError("usage", "invalid parameters: expected an object", hints);
  }
  let text;
  try {
    text = JSON.stringify(params);
    // Only null can hide a number that JSON cannot express, only an escape half of a character.
    if (text.includes("null") || text.includes("\\ud")) text = JSON.stringify(params, refuseUnspeakable);
  } catch (error) {
    if (error instanceof ForewordError) throw error;
    throw new ForewordError("usage", `invalid parameters: ${error.message}`);
  }
  return text;
}

const made = Symbol("made by build");

/** A compiled prompt. It never changes. */
class Prompt {
  #native;
  #manifest;

  constructor(key, own) {
    if (key !== made) throw new TypeError("prompts are made by build()");
    this.#native = own;
  }

  get text() {
    return this.#native.text;
  }
  get system() {
    return this.#native.system;
  }
  get stable() {
    return this.#native.stable;
  }
  get turnContext() {
    return this.#native.turnContext;
  }
  get tokens() {
    return this.#native.tokens;
  }
  get digest() {
    return this.#native.digest;
  }
  get blueprint() {
    return this.#native.blueprint;
  }
  get warnings() {
    return this.#native.warnings;
  }
  get overBudget() {
    return this.#native.overBudget;
  }
  get manifest() {
    this.#manifest ??= attempt(() => JSON.parse(this.#native.manifest()));
    return this.#manifest;
  }
  get sections() {
    return this.manifest.sections;
  }
  section(module) {
    return this.#native.section(module) ?? undefined;
  }
  toAnthropic() {
    return this.#request("anthropic");
  }
  toOpenAI() {
    return this.#request("openai");
  }
  toResponses() {
    return this.#request("responses");
  }
  toGemini() {
    return this.#request("gemini");
  }
  diff(other) {
    if (!(other instanceof Prompt)) throw new ForewordError("usage", "diff() takes a Prompt");
    return attempt(() => JSON.parse(this.#native.diff(other.#native)));
  }
  toString() {
    return this.text;
  }
  toJSON() {
    return this.manifest;
  }
  [Symbol.for("nodejs.util.inspect.custom")]() {
    const { estimatedTokens, moduleCount } = this.manifest.metadata;
    return `Prompt { ${this.blueprint}: ${estimatedTokens} tokens in ${moduleCount} sections }`;
  }
  #request(format) {
    return attempt(() => JSON.parse(this.#native.request(format)));
  }
}

function buildWith(service, params) {
  const text = encode(params);
  return new Prompt(made, attempt(() => service.build(text)));
}

async function buildAsyncWith(service, params) {
  const text = encode(params);
  try {
    return new Prompt(made, await service.buildAsync(text));
  } catch (error) {
    throw failure(error);
  }
}

async function callWith(service, method, params) {
  const text = encode(params);
  try {
    return JSON.parse(await service.callAsync(method, text));
  } catch (error) {
    throw failure(error);
  }
}

const shared = new native.Service();

/** Compiles a prompt from `{context}` or from `{workspace, task, …}`. */
function build(params = {}) {
  return buildWith(shared, params);
}

/** `build` on a thread of the pool. */
function buildAsync(params = {}) {
  return buildAsyncWith(shared, params);
}

/** Compares two prompts. */
function diff(a, b) {
  if (!(a instanceof Prompt)) throw new ForewordError("usage", "diff() takes two Prompts");
  return a.diff(b);
}

/** Scans a text for prompt injection. */
function scan(text) {
  return callWith(shared, "scan", { text });
}

/** Screens a skill without storing it. */
function screen(text, options = {}) {
  return callWith(shared, "screen", { ...options, text });
}

/** Counts the tokens of a text. */
function count(text, tokenizer = "estimate") {
  return attempt(() => JSON.parse(shared.call("count", encode({ text, tokenizer })))).tokens;
}

/** The text of a request body. */
function bodyText(body) {
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  return encode(body);
}

/** Reports on the body of a request to a model, and checks that a prompt is in it byte for byte. */
async function checkRequest(body, options = {}) {
  const { prompt, ...rest } = options;
  if (prompt !== undefined && !(prompt instanceof Prompt)) {
    throw new ForewordError("usage", "checkRequest() takes a Prompt as `prompt`");
  }
  const built = prompt && { system: prompt.system, stable: prompt.stable, turnContext: prompt.turnContext };
  return callWith(shared, "check_request", { ...rest, body: bodyText(body), prompt: built });
}

/** Reports on a capture of `foreword watch`. */
function watchReport(options = {}) {
  return callWith(shared, "watch_report", options);
}

function describe(tool) {
  if (typeof tool === "string") return { name: tool };
  const inner = tool?.function && typeof tool.function === "object" ? tool.function : tool;
  if (typeof inner?.name !== "string") {
    throw new ForewordError("usage", "a tool has no name", ["pass `describe`, which gives name and description"]);
  }
  return { name: inner.name, description: typeof inner.description === "string" ? inner.description : "" };
}

/** Picks the tools that fit a task, best first, and gives those very objects. */
async function select(task, tools, options = {}) {
  const { describe: own = describe, ...limits } = options;
  if (typeof tools === "string" || typeof tools?.[Symbol.iterator] !== "function") {
    throw new ForewordError("usage", "select() takes a list of tools");
  }
  const given = [...tools];
  const answer = await callWith(shared, "select", { ...limits, task, tools: given.map((tool) => own(tool)) });
  return answer.tools.map((picked) => given[picked.index]);
}

/** A directory with an agent's files, kept warm between prompts. */
class Workspace {
  #service;

  constructor(directory) {
    if (typeof directory !== "string") {
      throw new ForewordError("usage", "a Workspace takes the path of its directory, as a string");
    }
    if (!fs.statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
      throw new ForewordError("usage", `${directory}: there is no such directory`, [
        "create a workspace with `foreword init DIR`",
      ]);
    }
    this.path = directory;
    this.#service = new native.Service(directory);
    this.memory = new Memory(this);
    this.skills = new Skills(this);
  }

  build(options = {}) {
    return buildWith(this.#open(), options);
  }
  buildAsync(options = {}) {
    return buildAsyncWith(this.#open(), options);
  }
  async lint(options = {}) {
    return this.call("lint", options);
  }
  async call(method, params = {}) {
    return callWith(this.#open(), method, params);
  }
  close() {
    this.#service = undefined;
  }
  get closed() {
    return this.#service === undefined;
  }
  [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() {
    this.close();
  }
  #open() {
    if (this.#service === undefined) throw new ForewordError("usage", `the workspace ${this.path} is closed`);
    return this.#service;
  }
}

function opened(workspace) {
  return workspace instanceof Workspace ? workspace : new Workspace(workspace);
}

/** What the agents of a workspace remember. */
class Memory {
  #workspace;
  constructor(workspace) {
    this.#workspace = opened(workspace);
  }
  add(text, options = {}) {
    return this.#workspace.call("memory_add", { ...options, text });
  }
  search(query, options = {}) {
    return this.#workspace.call("memory_search", { ...options, query });
  }
  list(options = {}) {
    return this.#workspace.call("memory_list", options);
  }
  async forget(what) {
    const params = Array.isArray(what) ? { ids: what } : what;
    return (await this.#workspace.call("memory_forget", params)).forgotten;
  }
}

/** The skills of a workspace: agents propose, people decide. */
class Skills {
  #workspace;
  constructor(workspace) {
    this.#workspace = opened(workspace);
  }
  list() {
    return this.#workspace.call("skill_list");
  }
  read(name) {
    return this.#workspace.call("skill_read", { name });
  }
  propose(content, options = {}) {
    return this.#workspace.call("skill_propose", { ...options, content });
  }
  proposals(options = {}) {
    return this.#workspace.call("skill_proposals", options);
  }
  approve(id) {
    return this.#workspace.call("skill_decide", { id, decision: "approve" });
  }
  reject(id, options = {}) {
    return this.#workspace.call("skill_decide", { ...options, id, decision: "reject" });
  }
}

module.exports = {
  ForewordError,
  Memory,
  Prompt,
  Skills,
  Workspace,
  build,
  buildAsync,
  checkRequest,
  count,
  diff,
  scan,
  screen,
  select,
  watchReport,
};
