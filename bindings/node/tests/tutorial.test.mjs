// The tutorial "A prompt from TypeScript" shows what its code prints.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const own = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const page = path.join(own, "../../docs/tutorials/typescript.md");

test("the tutorial shows what its code prints", () => {
  const text = fs.readFileSync(page, "utf8");
  const blocks = [...text.matchAll(/^```(ts|text)\n(.*?)^```$/gms)].map(([, kind, block]) => ({ kind, block }));
  const code = blocks.filter(({ kind }) => kind === "ts").map(({ block }) => block);
  const shown = blocks.filter(({ kind }) => kind === "text").map(({ block }) => block.trimEnd());
  assert.ok(code.length > 0);
  assert.equal(code.length, shown.length, "every block of code shows its output");
  // As if the package were installed beside the program. Blocks without types run as JavaScript.
  const place = fs.mkdtempSync(path.join(os.tmpdir(), "foreword-tutorial-"));
  fs.mkdirSync(path.join(place, "node_modules"));
  fs.symlinkSync(own, path.join(place, "node_modules/foreword"), "dir");
  const line = "-- end of block --";
  fs.writeFileSync(path.join(place, "tutorial.mjs"), code.join(`\nconsole.log(${JSON.stringify(line)});\n`));
  const run = spawnSync(process.execPath, ["tutorial.mjs"], {
    cwd: place,
    encoding: "utf8",
    env: { ...process.env, FOREWORD_CONFIG_DIR: place, NO_COLOR: "1" },
  });
  fs.rmSync(place, { recursive: true });
  assert.equal(run.status, 0, run.stderr);
  assert.deepEqual(run.stdout.split(`${line}\n`).map((printed) => printed.trimEnd()), shown);
});
