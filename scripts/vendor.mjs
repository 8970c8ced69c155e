// The command line loads three libraries at every start: zod, oclif's core and part of undici, in two hundred files.
// This bundles them into a few, because resolving and reading files is most of the run time of a short command.
// Without esbuild nothing is bundled.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";

const require = createRequire(import.meta.url);

const bundler = () => import("esbuild").catch(() => null);

/** Matches the imports of these packages in the sources, e.g. `@oclif/core/flags`. */
const isVendored = (specifier) => specifier === "zod" || /^@oclif\/core\/[\w/]+$/.test(specifier);
const fileOf = (specifier) => `${specifier.replace(/^@/, "").replaceAll("/", "-")}.js`;

/** Error messages in other languages are half of zod, and none of them is used. */
const englishOnly = {
  name: "english-only",
  setup: (build) =>
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
      loader: "js",
    })),
};

/** Dependencies of oclif that a running command never uses: loaded only on first use. */
const lazy = {
  name: "lazy",
  setup: (build) => {
    build.onResolve({ filter: /^(tinyglobby|ejs)$/ }, ({ path, pluginData, resolveDir }) =>
      pluginData === "real" ? undefined : { path, namespace: "lazy", pluginData: { resolveDir } },
    );
    build.onLoad({ filter: /.*/, namespace: "lazy" }, async ({ path, pluginData: { resolveDir } }) => {
      const real = await build.resolve(path, { kind: "require-call", resolveDir, pluginData: "real" });
      const get = `(_, key) => require(${JSON.stringify(real.path)})[key]`;
      return { contents: `module.exports = new Proxy({}, { get: ${get} });`, resolveDir };
    });
  },
};

/** Bundles the imports of the built files in `folder` into its `vendor/` folder, and rewrites the imports. */
export async function vendor(folder) {
  const esbuild = await bundler();
  if (esbuild === null) return;
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".js"));
  const texts = new Map();
  const wanted = new Set();
  const imports = /(\bfrom |\bimport\()"([^"]+)"/g;
  for (const name of files) {
    const text = await readFile(join(folder, name), "utf8");
    const found = [...text.matchAll(imports)].map(([, , specifier]) => specifier).filter(isVendored);
    if (found.length === 0) continue;
    texts.set(name, text);
    for (const specifier of found) wanted.add(specifier);
  }

  const out = join(folder, "vendor");
  const stubs = join(folder, ".vendor");
  await mkdir(stubs, { recursive: true });
  for (const specifier of wanted) await writeFile(join(stubs, fileOf(specifier)), stubOf(specifier));
  await writeFile(join(stubs, "undici-parts.js"), undiciParts);
  await esbuild.build({
    entryPoints: [...[...wanted].map(fileOf), "undici-parts.js"].map((name) => join(stubs, name)),
    outdir: out,
    bundle: true,
    splitting: true,
    chunkNames: "[name]-[hash]",
    format: "esm",
    platform: "node",
    target: "node20",
    // Identifiers are not minified, because errors are distinguished by the names of their classes.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "eof",
    plugins: [englishOnly, lazy],
    banner: {
      js: 'import { createRequire as vendorRequire } from "node:module"; const require = vendorRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
  await rm(stubs, { recursive: true });
  await writeFile(
    join(folder, "client", "undici.js"),
    'import { Agent, request } from "../vendor/undici-parts.js";\nexport const loadUndici = () => ({ Agent, request });\n',
  );

  for (const [name, text] of texts) {
    const path = relative(dirname(join(folder, name)), out)
      .split(sep)
      .join("/");
    const to = path.startsWith(".") ? path : `./${path}`;
    const rewritten = text.replace(imports, (whole, before, specifier) =>
      isVendored(specifier) ? `${before}"${to}/${fileOf(specifier)}"` : whole,
    );
    await writeFile(join(folder, name), rewritten);
  }
}

/** The parts of undici that `src/client/undici.ts` uses. */
const undiciParts = `import Agent from "undici/lib/dispatcher/agent.js";
import api from "undici/lib/api/index.js";
const { request } = api;
export { Agent, request };
`;

/** A module that re-exports the package. The exports of a CommonJS module must be listed by name. */
function stubOf(specifier) {
  if (specifier === "zod") return 'export * from "zod";\n';
  const names = Object.keys(require(specifier)).filter((name) => name !== "default");
  return [
    `import whole from ${JSON.stringify(specifier)};`,
    ...names.map((name, at) => `const v${at} = whole.${name}; export { v${at} as ${name} };`),
    "export default whole;",
  ].join("\n");
}
