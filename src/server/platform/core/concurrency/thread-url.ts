// Not bundled (scripts/bundle-server.mjs), so that its own place leads to the modules with which threads start.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

/** What starts a thread. `name`: a module's path below src/server, without extension. */
export function threadUrl(name: string): URL {
  const isBuilt = new URL(import.meta.url).pathname.endsWith(".js");
  const url = new URL(`../../../${name}${isBuilt ? ".js" : ".ts"}`, import.meta.url);
  return isBuilt ? url : sourceUrl(url);
}

/** Threads do not inherit the loader of sources: theirs become one module. */
function sourceUrl(source: URL): URL {
  const { buildSync } = createRequire(import.meta.url)("esbuild") as typeof import("esbuild");
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(source)],
    bundle: true,
    platform: "node",
    format: "esm",
    // For the packages that are no modules.
    banner: {
      js: `import { createRequire } from "node:module"; const require = createRequire(${JSON.stringify(source)});`,
    },
    write: false,
  });
  return new URL(`data:text/javascript,${encodeURIComponent(outputFiles[0]!.text)}`);
}
