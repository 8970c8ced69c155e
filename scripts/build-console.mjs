// Builds the console in the browser: src/console/ to dist/browser/, with a manifest for the server, and each file also
// compressed, so that no server compresses it again.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { isGroup, isPlain } from "./bundle-api.mjs";

const COMPRESSED = /\.(js|css|svg|json)$/;
/** What pages need to know about an endpoint; its schemas stay on the server. */
const endpointParts = ["method", "path", "root", "exact", "access", "tier", "takes", "produces", "dryRun", "isSlow"];
const usual = { root: false, exact: false, tier: "free", produces: null, dryRun: null, isSlow: false };

/** Builds from the sources below `root` into a folder. `compiled` contains the API as tsc compiles it. */
export async function buildConsole(root, compiled, outDir) {
  const vite = await import("vite").catch(() => null);
  if (vite === null) return;
  // Tests that build have another environment, which would make this a build for development.
  process.env.NODE_ENV = "production";
  await vite.build({
    configFile: false,
    root: join(root, "src", "console"),
    base: "/assets/console/",
    mode: "production",
    logLevel: "warn",
    publicDir: false,
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [apiTables(root, compiled)],
    build: {
      outDir,
      emptyOutDir: true,
      assetsDir: "",
      manifest: "manifest.json",
      modulePreload: { polyfill: false },
      target: "es2022",
      // The browsers that have light-dark(), so that each colour is written once.
      cssTarget: ["chrome123", "firefox120", "safari17.5"],
      reportCompressedSize: false,
      // Icons and other images inside of scripts would need more than the content security policy allows.
      assetsInlineLimit: 0,
      rolldownOptions: {
        input: join(root, "src", "console", "main.tsx"),
        // "use client" in libraries is for servers that render pages.
        onLog: (level, log, handle) => log.code !== "MODULE_LEVEL_DIRECTIVE" && handle(level, log),
      },
    },
  });
  await compress(outDir);
}

async function compress(folder) {
  for (const name of await readdir(folder)) {
    if (!COMPRESSED.test(name) || name === "manifest.json") continue;
    const text = await readFile(join(folder, name));
    const quality = {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
    };
    await writeFile(join(folder, `${name}.br`), brotliCompressSync(text, quality));
    await writeFile(join(folder, `${name}.gz`), gzipSync(text, { level: 9 }));
  }
}

/**
 * Replaces the modules of the API that declare schemas by tables of their endpoints. Pages import a group of endpoints
 * as everyone does, with its types, but neither schemas nor zod become part of the scripts: importing a schema is an
 * error of the build.
 */
function apiTables(root, compiled) {
  const api = join(root, "src", "api");
  let withSchemas = new Set();
  return {
    name: "api-tables",
    enforce: "pre",
    async buildStart() {
      withSchemas = await modulesWithSchemas(join(compiled, "api"));
    },
    async load(id) {
      if (!id.startsWith(api)) return null;
      const file = join(compiled, "api", relative(api, id).replace(/\.ts$/, ".js"));
      if (!withSchemas.has(file)) return null;
      const members = Object.entries(await import(pathToFileURL(file).href));
      const texts = members.flatMap(([name, value]) => {
        const text = isGroup(value) ? tableOf(value) : isPlain(value) ? JSON.stringify(value) : null;
        return text === null ? [] : [`export const ${name} = ${text};`];
      });
      return { code: texts.join("\n"), map: null };
    },
  };
}

/** The modules of the API that import zod, by themselves or through others. */
async function modulesWithSchemas(folder) {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".js"));
  const imports = new Map();
  for (const name of files) {
    const file = join(folder, name);
    const statements = (await readFile(file, "utf8")).matchAll(/^(?:import|export)\b(?:[^;"]*?\bfrom)?\s*"([^"]+)"/gm);
    imports.set(
      file,
      [...statements].map(([, specifier]) =>
        specifier.startsWith(".") ? resolve(dirname(file), specifier) : specifier,
      ),
    );
  }
  const reached = new Set();
  const visit = (target) => {
    for (const [file, targets] of imports) {
      if (reached.has(file) || !targets.includes(target)) continue;
      reached.add(file);
      visit(file);
    }
  };
  visit("zod");
  return reached;
}

const tableOf = (group) =>
  `{${Object.entries(group)
    .map(([name, endpoint]) => `${JSON.stringify(name)}: ${JSON.stringify(rowOf(endpoint))}`)
    .join(",\n")}}`;

const rowOf = (endpoint) =>
  Object.fromEntries(
    endpointParts
      .map((name) => [name, endpoint[name]])
      .filter(([name, value]) => value !== usual[name] && !(name === "takes" && value.kind === "json")),
  );
