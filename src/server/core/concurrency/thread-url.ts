// Not bundled (scripts/bundle-server.mjs), so that its own place leads to the modules with which threads start.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

/** What starts a thread. `name`: a module's path below src/server, without extension. */
export function threadUrl(name: string): URL {
  const isBuilt = new URL(import.meta.url).pathname.endsWith(".js");
  const url = new URL(`../../${name}${isBuilt ? ".js" : ".ts"}`, import.meta.url);
  return isBuilt ? url : sourceUrl(url.href);
}

/** Threads do not inherit the loader of sources. */
function sourceUrl(href: string): URL {
  // Resolved for `require`, it is beside the module that can be imported.
  const loader = pathToFileURL(
    createRequire(import.meta.url)
      .resolve("tsx/esm/api")
      .replace(/\.cjs$/, ".mjs"),
  ).href;
  const text = `import { register } from ${JSON.stringify(loader)}; register(); await import(${JSON.stringify(href)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}
