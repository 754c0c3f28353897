#!/usr/bin/env node
// `npx foreword`: runs the command line of this platform.
"use strict";

const { spawn } = require("node:child_process");
const path = require("node:path");
const { platformDirectory } = require("../native.cjs");

const name = process.platform === "win32" ? "foreword.exe" : "foreword";
const child = spawn(path.join(platformDirectory(), name), process.argv.slice(2), { stdio: "inherit" });
// The terminal sends signals to the whole group; what reaches only this process is passed on.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`error: cannot start the foreword command: ${error.message}`);
  process.exitCode = 3;
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exitCode = code ?? 3;
  }
});
