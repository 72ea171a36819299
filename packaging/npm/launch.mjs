#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Starts the program of the package for this machine, and ends as it does.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";

let program;
try {
  program = createRequire(import.meta.url).resolve("@native@/bin/@program@");
} catch {
  console.error("@program@: there is no program for " + process.platform + " on " + process.arch +
    "; it runs on Linux on x86_64 (was @native@ left out by --omit=optional?)");
  process.exit(1);
}
const args = process.argv.slice(2);
// Where node can, the program takes this process over, and nothing is in between.
if (process.execve)
  try {
    process.execve(program, [program, ...args], process.env);
  } catch {
    // Then as a child.
  }
const child = spawn(program, args, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1"])
  process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error("@program@: " + error.message);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
