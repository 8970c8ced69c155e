#!/usr/bin/env node
// run.js from the sources: nothing has to be built.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { register } from "tsx/esm/api";

register();
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { sourceConfig } = await import("../src/cli/run/source-config.ts");
const { start } = await import("../src/cli/run/start.ts");
await start(process.argv.slice(2), root, sourceConfig(root));
