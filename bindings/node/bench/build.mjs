// How long `build` takes from JavaScript: node bench/build.mjs [--json]
import fs from "node:fs";
import { performance } from "node:perf_hooks";
import { build } from "../index.mjs";

const file = new URL("../../../examples/contexts/integration.json", import.meta.url);
const context = JSON.parse(fs.readFileSync(file, "utf8"));

/** The median of the mean times of several rounds, in microseconds. */
function micros(work, rounds = 15, each = 200) {
  work();
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    for (let i = 0; i < each; i++) work();
    times.push(((performance.now() - started) / each) * 1e3);
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
if (process.argv.includes("--json")) console.log(JSON.stringify(figures));
else for (const [name, value] of Object.entries(figures)) console.log(name.padEnd(18), value.toFixed(2).padStart(10));
