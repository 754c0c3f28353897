// Finds the files of this platform: the addon, the table of embeddings and the command line.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

/** The name of the package that has the files of this platform. */
function platformPackage() {
  const libc = process.platform === "linux" ? "-gnu" : "";
  return `@foreword/${process.platform}-${process.arch}${libc}`;
}

/** The directory with the files of this platform: beside this file in a checkout, else in its package. */
function platformDirectory() {
  const own = path.join(__dirname, "native");
  if (fs.existsSync(path.join(own, "foreword.node"))) return own;
  const name = platformPackage();
  try {
    return path.dirname(require.resolve(`${name}/package.json`));
  } catch {
    throw new Error(
      `foreword has no native files for ${process.platform} ${process.arch}: ` +
        `install ${name}, and do not pass --omit=optional to npm`,
    );
  }
}

module.exports = { platformDirectory };
