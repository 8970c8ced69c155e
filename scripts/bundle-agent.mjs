// The agent as one file, dist/agent.mjs, which the server hands out to new hosts. They need nothing besides Node: no
// packages, and SQLite's WebAssembly is inside. Without its first lines, which make it a module, the file is a CommonJS
// program: `svc agent package` takes it for executables with Node inside, which run only such programs.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Without esbuild there is no such file, and the server says so to hosts. */
export async function bundleAgent(root, outfile, asVersion) {
  const esbuild = await import("esbuild").catch(() => null);
  if (esbuild === null) return;
  const version = asVersion ?? JSON.parse(await readFile(join(root, "package.json"), "utf8")).version;
  await esbuild.build({
    entryPoints: [join(root, "src/agent/standalone/main.ts")],
    outfile,
    absWorkingDir: root,
    bundle: true,
    format: "cjs",
    platform: "node",
    target: "node20",
    // Identifiers stay, for stack traces and because errors are distinguished by the names of their classes.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    legalComments: "eof",
    logLevel: "warning",
    define: { "process.env.SVC_AGENT_VERSION": JSON.stringify(version) },
    banner: {
      js: [
        "#!/usr/bin/env node",
        // The server reads it here.
        `// svc-agent ${version}`,
        'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
        // For libraries that look for files beside them.
        'import { dirname as folderOf } from "node:path"; import { fileURLToPath as pathOf } from "node:url";',
        "const __filename = pathOf(import.meta.url); const __dirname = folderOf(__filename);",
        // Known to src/agent/package/executable.ts.
        "// end of the module's own lines",
      ].join("\n"),
    },
    plugins: [sqliteInside],
  });
}

/** sql.js reads its WebAssembly from a file beside it; here it gets the bytes. */
const sqliteInside = {
  name: "sqlite-inside",
  setup(build) {
    build.onResolve({ filter: /^sql\.js$/ }, ({ resolveDir }) => ({
      path: "sql.js",
      namespace: "sqlite",
      pluginData: { resolveDir },
    }));
    build.onLoad({ filter: /.*/, namespace: "sqlite" }, ({ pluginData: { resolveDir } }) => ({
      contents: `import load from "sql.js/dist/sql-wasm.js";
import wasmBinary from "sql.js/dist/sql-wasm.wasm";
export default () => load({ wasmBinary });`,
      loader: "js",
      resolveDir,
    }));
    build.onLoad({ filter: /\.wasm$/ }, async ({ path }) => ({ contents: await readFile(path), loader: "binary" }));
  },
};
