// How long `build` takes from JavaScript: node bench/build.mjs [--json] [--cpu]
//
// --cpu measures processor time instead of the time on the wall, for a machine that is busy with something else.
// FOREWORD_BENCH_PEERS names a directory with @mariozechner/pi-coding-agent in node_modules; its builder is then
// measured on the same identity, context and skills.
import fs from "node:fs";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { build } from "../index.mjs";

const file = new URL("../../../examples/contexts/integration.json", import.meta.url);
const context = JSON.parse(fs.readFileSync(file, "utf8"));

const clock = process.argv.includes("--cpu")
  ? () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e3;
    }
  : () => performance.now();

/** The median of the mean times of several rounds, in microseconds. */
function micros(work, rounds = 15, each = 200) {
  work();
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const started = clock();
    for (let i = 0; i < each; i++) work();
    times.push(((clock() - started) / each) * 1e3);
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)];
}

const rust = Math.min(...Array.from({ length: 2000 }, () => build({ context, blueprint: "guarded" }).manifest.metadata.buildTimeMs)) * 1e3;
const figures = {
  build_us: micros(() => build({ context, blueprint: "guarded" })),
  build_and_text_us: micros(() => build({ context, blueprint: "guarded" }).text),
  rust_us: rust,
  manifest_us: micros(() => build({ context, blueprint: "guarded" }).manifest, 15, 50),
};
const peers = process.env.FOREWORD_BENCH_PEERS;
if (peers) {
  const own = path.join(peers, "node_modules/@mariozechner/pi-coding-agent/dist/core/system-prompt.js");
  const { buildSystemPrompt } = await import(pathToFileURL(own).href);
  const { agent = "", soul = "", identity = "", user = "" } = context.identityFiles;
  const options = {
    cwd: context.workspace ?? "/",
    selectedTools: ["read", "bash", "edit", "write"],
    toolSnippets: { read: "Read files", bash: "Execute commands", edit: "Edit files", write: "Write files" },
    promptGuidelines: [],
    contextFiles: Object.entries({
      "AGENTS.md": agent, "SOUL.md": soul, "IDENTITY.md": identity, "USER.md": user,
      "CONTEXT.md": context.contextContent ?? "",
    }).map(([path, content]) => ({ path, content })),
    skills: (context.skills ?? []).map((skill, n) => ({
      name: `skill-${n}`, description: typeof skill === "string" ? skill : skill.body,
      filePath: `/skills/skill-${n}/SKILL.md`,
    })),
  };
  figures.pi_us = micros(() => buildSystemPrompt(options));
  figures.pi_bytes = Buffer.byteLength(buildSystemPrompt(options));
  figures.own_bytes = Buffer.byteLength(build({ context, blueprint: "guarded" }).text);
}
if (process.argv.includes("--json")) console.log(JSON.stringify(figures));
else for (const [name, value] of Object.entries(figures)) console.log(name.padEnd(18), value.toFixed(2).padStart(10));
