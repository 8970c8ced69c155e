// The start of a short command is mostly Node finding, reading and compiling files. This turns the hundreds of files
// that a command would load into a few:
//
//   bundle/start.js    what every command line needs: dispatch, and oclif's configuration and help
//   bundle/client.js   what every command needs: the base classes with their flags, the client, oclif's parser
//   bundle/zod.js      and bundle/undici.js: the used parts of these libraries
//   bundle/yaml.js     and bundle/diff.js: libraries that only commands with configuration files need
//   commands/**        each command with whatever only commands import
//   api/**             as before, because server and commands share these modules
//
// Every process has each module only once, so its state and its classes too. Without esbuild nothing is bundled, and
// everything works too, but starts later.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import { bundleServer, startsThread } from "./bundle-server.mjs";

const require = createRequire(import.meta.url);

/** Modules of the command line that are bundled, with everything that they import. */
const started = ["cli/run/start.js"];
const shared = ["cli/client-command.js", "cli/data-command.js", "cli/query-flags.js"];
/** Folders whose modules are used by commands alone, and therefore become part of them. */
const ownOfCommands = /^(cli|client|gitops|text)\//;
const isPackage = (specifier) => specifier === "zod" || /^@oclif\/core\/[\w/]+$/.test(specifier);
/** Libraries of commands that would be many files otherwise. */
const libraries = ["yaml", "diff"];
/** Rarely used dependencies of oclif: loaded only on first use. */
const rare = /^(tinyglobby|ejs|minimatch|lilconfig)$/;

const posix = (path) => path.split(sep).join("/");
const load = async (name) => await import(name).catch(() => null);

/** Bundles the built files in `folder`, which is moved to `home` afterwards. */
export async function bundle(folder, home) {
  const esbuild = await load("esbuild");
  if (esbuild === null) return;
  const modules = await readModules(esbuild, folder);
  const inStart = closure(modules, started);
  const inClient = new Set([...closure(modules, shared)].filter((name) => !inStart.has(name)));
  const homes = homesOf(modules, { start: inStart, client: inClient });
  const common = {
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20",
    // Names in comments are then relative to it.
    absWorkingDir: folder,
    outdir: folder,
    outbase: folder,
    allowOverwrite: true,
    sourcemap: true,
    legalComments: "eof",
    logLevel: "warning",
  };
  // Identifiers are not minified, because errors are distinguished by the names of their classes. Short lines keep the
  // places in stack traces useful.
  const small = { minifyWhitespace: true, minifySyntax: true, lineLimit: 200 };
  const bundles = await esbuild.build({
    ...common,
    entryPoints: ["start", "client", "zod", "undici", ...libraries].map((name) => ({
      in: `bundle:${name}`,
      out: `bundle/${name}`,
    })),
    splitting: true,
    chunkNames: "bundle/[name]-[hash]",
    ...small,
    plugins: [bundlesPlugin(folder, modules, homes), englishOnly, rarePackages],
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
  });
  const rest = await esbuild.build({
    ...common,
    entryPoints: [...modules.keys()]
      .filter((name) => /^(commands|api)\//.test(name) && !homes.modules.has(name))
      .map((name) => join(folder, name)),
    ...small,
    plugins: [restPlugin(folder, homes)],
  });
  const server = await bundleServer(esbuild, { common, folder, modules, homes, reexport, closure });
  for (const { path, text } of [...bundles.outputFiles, ...rest.outputFiles, ...server]) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(
      path,
      path.endsWith(".map") ? withSources(text, folder, path, home) : withPaths(text, folder, path),
    );
  }

  // Modules that also others import.
  const replaced = [["client/undici-parts.js", 'export { Agent, request } from "svc:bundle/undici.js";\n']];
  for (const [name, { from, names }] of homes.modules)
    if (name.startsWith("api/") || started.includes(name)) replaced.push([name, reexport(names, from)]);
  for (const [name, text] of replaced) {
    await writeFile(join(folder, name), withPaths(text, folder, join(folder, name)));
    await rm(join(folder, `${name}.map`), { force: true });
  }
  for (const [name, { zod }] of modules) {
    if (zod.length === 0 || /^(commands|api|server)\//.test(name)) continue;
    const text = await readFile(join(folder, name), "utf8");
    const rewritten = text.replace(/(^import [^;]*?from )"zod";/m, '$1"svc:bundle/zod.js";');
    await writeFile(join(folder, name), withPaths(rewritten, folder, join(folder, name)));
  }
  await removeUnused(folder, modules);
}

/** Removes modules that are now part of others. */
async function removeUnused(folder, modules) {
  const needed = new Set();
  const visit = async (name) => {
    if (needed.has(name)) return;
    needed.add(name);
    const text = await readFile(join(folder, name), "utf8");
    for (const [, specifier] of text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*"(\.[^"]+\.js)"/g)) {
      const target = targetOf(name, specifier);
      // Libraries have such text in messages.
      if (modules.has(target) || target.startsWith("bundle/")) await visit(target);
    }
  };
  await visit("cli/completion/complete.js");
  for (const name of started) await visit(name);
  for (const name of modules.keys())
    if (/^(commands|api)\//.test(name) || startsThread(name) || name.endsWith(".process.js")) await visit(name);
  for (const name of modules.keys())
    if (!needed.has(name)) for (const end of ["", ".map"]) await rm(join(folder, name + end), { force: true });
}

/** All built modules by their path in the folder: exports, and imports of each kind. */
async function readModules(esbuild, folder) {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".js"));
  const { metafile } = await esbuild.build({
    entryPoints: files.map((name) => join(folder, name)),
    absWorkingDir: folder,
    outdir: folder,
    write: false,
    metafile: true,
    format: "esm",
    logLevel: "error",
  });
  const modules = new Map();
  for (const [output, { exports }] of Object.entries(metafile.outputs)) {
    const name = posix(output);
    const text = await readFile(join(folder, name), "utf8");
    const zod = /from "zod"/.test(text) ? [...text.matchAll(/\bz\.(\w+)/g)].map(([, used]) => used) : [];
    const used = new Map(libraries.map((library) => [library, namedImports(text, library)]));
    modules.set(name, { exports, zod, used, imports: importsIn(text), readsFiles: text.includes("import.meta") });
  }
  return modules;
}

/** What a module imports by name, when it is loaded. */
const namedImports = (text, library) =>
  [...text.matchAll(new RegExp(`^import \\{([^}]*)\\} from "${library}";`, "gm"))].flatMap(([, names]) =>
    names.split(",").map((name) => name.trim().split(" as ")[0]),
  );

/** The modules that a module imports when it is loaded, and those that it imports later. */
function importsIn(text) {
  const found = (pattern) => [...text.matchAll(pattern)].map(([, specifier]) => specifier);
  return {
    fixed: found(/^(?:import|export)\b(?:[^;"]*?\bfrom)?\s*"([^"]+)"/gm),
    late: found(/\bimport\("([^"]+)"\)/g),
  };
}

const targetOf = (from, specifier) => posix(join(dirname(from), specifier));

/** The modules and everything that they import when they are loaded, as far as `within` allows. */
function closure(modules, names, within = () => true) {
  const reached = new Set();
  const visit = (name) => {
    if (reached.has(name) || !within(name)) return;
    reached.add(name);
    for (const specifier of modules.get(name).imports.fixed)
      if (specifier.startsWith(".")) visit(targetOf(name, specifier));
  };
  for (const name of names) visit(name);
  return reached;
}

/** Where each bundled module and package is, and under which names the bundle exports what it exports. */
function homesOf(modules, bundles) {
  const homes = { modules: new Map(), packages: new Map([["zod", { from: "zod", names: [["z", "z"]] }]]) };
  let count = 0;
  for (const [from, members] of Object.entries(bundles))
    for (const name of members) {
      const id = `m${count++}`;
      homes.modules.set(name, { from, names: modules.get(name).exports.map((own) => [own, `${id}_${own}`]) });
    }
  const wanted = new Map();
  for (const [name, { imports }] of modules)
    for (const specifier of imports.fixed.filter((one) => isPackage(one) && one !== "zod"))
      wanted.set(specifier, bundles.start.has(name) || wanted.get(specifier) === "start" ? "start" : "client");
  for (const [specifier, from] of wanted) {
    const id = `p${count++}`;
    const names = Object.keys(require(specifier)).filter((name) => name !== "default");
    homes.packages.set(specifier, { from, names: names.map((own) => [own, `${id}_${own}`]) });
  }
  return homes;
}

/** A module that gives the names of a bundle their own names back. The path is inserted by `withPaths`. */
const reexport = (names, from) =>
  `export { ${names.map(([own, named]) => `${named} as ${own}`).join(", ")} } from "svc:bundle/${from}.js";\n`;

/** Replaces `svc:` in imports by the way from the file to the built files. */
function withPaths(text, folder, file) {
  const up = posix(relative(dirname(file), folder)) || ".";
  return text.replace(/(["'])svc:([\w./-]+)\1/g, (_, __, path) => `"${up.startsWith(".") ? up : `./${up}`}/${path}"`);
}

/** A source map whose paths to the sources are right once the built files are in `home`. */
function withSources(text, folder, file, home) {
  const map = JSON.parse(text);
  const [from, to] = [dirname(file), join(home, relative(folder, dirname(file)))];
  const sources = map.sources.map((path) => {
    const full = resolve(from, path);
    return relative(folder, full).startsWith("..") ? posix(relative(to, full)) : path;
  });
  return JSON.stringify({ ...map, sources });
}

/** The bundles themselves: their entries are generated, and libraries are included. */
function bundlesPlugin(folder, modules, homes) {
  const entries = {
    start: () => entryOf("start"),
    client: () => entryOf("client"),
    zod: () => zodEntry,
    undici: () => undiciEntry,
    ...Object.fromEntries(libraries.map((library) => [library, () => libraryEntry(library)])),
  };
  const libraryEntry = (library) => {
    const names = new Set([...modules.values()].flatMap(({ used }) => used.get(library)));
    return `export { ${[...names]
      .filter((name) => name !== "")
      .sort()
      .join(", ")} } from "${library}";`;
  };
  const entryOf = (bundled) =>
    [
      ...[...homes.modules]
        .filter(([, { from, names }]) => from === bundled && names.length > 0)
        .map(([name, { names }]) => `export { ${renamed(names)} } from ${JSON.stringify(join(folder, name))};`),
      ...[...homes.packages]
        .filter(([specifier, { from }]) => from === bundled && specifier !== "zod")
        .flatMap(([specifier, { names }], at) => [
          `import * as all${at} from ${JSON.stringify(specifier)};`,
          ...names.map(([own, named]) => `export const ${named} = all${at}.${own};`),
        ]),
    ].join("\n");
  const renamed = (names) => names.map(([own, named]) => `${own} as ${named}`).join(", ");
  const used = [...new Set([...modules.values()].flatMap(({ zod }) => zod))].sort();
  const zodEntry = `import * as all from "zod"; export const z = { ${used.map((name) => `${name}: all.${name}`)} };`;
  const own = (path) => posix(relative(folder, path));
  return {
    name: "bundles",
    setup(build) {
      build.onResolve({ filter: /^bundle:/ }, ({ path }) => ({ path: path.slice(7), namespace: "entry" }));
      build.onLoad({ filter: /.*/, namespace: "entry" }, ({ path }) => ({
        contents: entries[path](),
        resolveDir: folder,
      }));
      build.onResolve({ filter: /.*/ }, ({ path, importer, namespace, resolveDir, kind, pluginData }) => {
        if (pluginData === "real" || kind === "entry-point") return undefined;
        const ours = namespace === "file" && !own(importer).startsWith("..");
        if (path === "zod" && namespace !== "entry") return { path: "svc:bundle/zod.js", external: true };
        if (!ours) return undefined;
        if (!path.startsWith(".")) return isPackage(path) || path === "lowdb" ? undefined : { path, external: true };
        const name = own(resolve(resolveDir, path));
        if (name === "client/undici-parts.js") return { path: "undici", namespace: "entry" };
        return homes.modules.has(name) || ownOfCommands.test(name)
          ? undefined
          : { path: `svc:${name}`, external: true };
      });
    },
  };
}

/** Commands and API: what is bundled elsewhere is imported from there. */
function restPlugin(folder, homes) {
  return {
    name: "rest",
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ path, kind, resolveDir }) => {
        if (kind === "entry-point") return undefined;
        if (path.startsWith("svc:")) return { path, external: true };
        if (homes.packages.has(path)) return { path, namespace: "package" };
        if (libraries.includes(path) && kind === "import-statement")
          return { path: `svc:bundle/${path}.js`, external: true };
        if (!path.startsWith(".")) return { path, external: true };
        const name = posix(relative(folder, resolve(resolveDir, path)));
        if (homes.modules.has(name)) return { path: name, namespace: "module" };
        return ownOfCommands.test(name) && name !== "cli/completion/complete.js"
          ? undefined
          : { path: `svc:${name}`, external: true };
      });
      for (const [namespace, of] of [
        ["module", homes.modules],
        ["package", homes.packages],
      ])
        build.onLoad({ filter: /.*/, namespace }, ({ path }) => {
          const { names, from } = of.get(path);
          return { contents: reexport(names, from) };
        });
    },
  };
}

/** Error messages in other languages are half of zod, and none of them is used. */
const englishOnly = {
  name: "english-only",
  setup: (build) =>
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
      loader: "js",
    })),
};

const rarePackages = {
  name: "rare-packages",
  setup: (build) => {
    build.onResolve({ filter: rare }, ({ path, pluginData, resolveDir, kind }) =>
      pluginData === "real" || kind !== "require-call"
        ? undefined
        : { path, namespace: "rare", pluginData: { resolveDir } },
    );
    build.onLoad({ filter: /.*/, namespace: "rare" }, async ({ path, pluginData: { resolveDir } }) => {
      const real = await build.resolve(path, { kind: "require-call", resolveDir, pluginData: "real" });
      const get = `(_, key) => require(${JSON.stringify(real.path)})[key]`;
      return { contents: `module.exports = new Proxy({}, { get: ${get} });`, resolveDir };
    });
  },
};

/** What `src/client/undici-parts.ts` exports. */
const undiciEntry = `import Agent from "undici/lib/dispatcher/agent.js";
import api from "undici/lib/api/index.js";
const { request } = api;
export { Agent, request };
`;
