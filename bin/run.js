#!/usr/bin/env node
// What `svc` starts. The version, and what a shell asks for at each Tab, are answered before anything big is loaded.
import module from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const argv = process.argv.slice(2);

if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v" || argv[0] === "version")) {
  const { version } = module.createRequire(import.meta.url)("../package.json");
  process.stdout.write(`svc/${version} ${process.platform}-${process.arch} node-${process.version}\n`);
} else {
  // Node 22 and later keep compiled code on disk.
  module.enableCompileCache?.();
  if (argv[0] === "completion" && argv[1] === "--complete") {
    const { complete } = await import("../dist/cli/completion/complete.js");
    await complete(
      argv.slice(2).filter((word, index) => index > 0 || word !== "--"),
      root,
    );
    // A keyring or server that has not answered is not waited for.
    process.exit();
  } else {
    const { start } = await import("../dist/cli/run/start.js");
    await start(argv, root);
  }
}
