// The start of a short command is mostly Node finding, reading and compiling files. This turns the hundreds of files
// that a command would load into a few:
//
//   bundle/cli.js      what every command needs: dispatch, the base classes with their flags, the client, oclif's parser
//   bundle/undici.js   the used part of this library, for uploads and streams
//   bundle/yaml.js     and bundle/diff.js: libraries that only commands with configuration files need
//   bundle/schemas.cjs zod and the API, for commands that need a schema (scripts/bundle-api.mjs)
//   bundle/zod.js      for the server
//   commands/**        each command with whatever only commands import
//   api/**             for the server, and commands that run it
//
// Every process has each module only once, so its state and its classes too. Modules of Node and of oclif are evaluated
// when something in them is first used. Without esbuild nothing is bundled, and everything works too, but starts later.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { builtinModules, createRequire } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import { bundleSchemas, schemaModules, tableFiles, tables, tablesOf } from "./bundle-api.mjs";
import { bundleServer, startsThread } from "./bundle-server.mjs";

const require = createRequire(import.meta.url);

/** Modules of the command line that are bundled, with everything that they import. */
const started = ["cli/run/start.js"];
const shared = ["cli/client-command.js", "cli/data-places.js", "cli/query-flags.js"];
/** Folders whose modules are used by commands alone, and therefore become part of them. */
const ownOfCommands = /^(cli|client|gitops|text)\//;
/** Commands that do not run the server contain also what they share with it. */
const notOfServer = /^(api|cli|client|gitops|packages|pki|plist|sql|text|xml)\//;
/** Packages, with what they need, that are small but many files. */
const inlined = /^(saxes|xmlchars)(\/|$)/;
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
  const withSchemas = schemaModules(modules, closure);
  const homes = homesOf(
    modules,
    closure(modules, [...started, ...shared], (name) => !withSchemas.has(name)),
  );
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
  const nameOf = (dir, path) => posix(relative(folder, resolve(dir, path)));
  const texts = await tablesOf(folder, withSchemas);
  const banner = {
    js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
  };
  // Each by itself: parts that two of them share would be files of their own.
  const bundles = await Promise.all(
    ["cli", "zod", "undici", ...libraries].map((name) =>
      esbuild.build({
        ...common,
        entryPoints: [{ in: `bundle:${name}`, out: `bundle/${name}` }],
        ...small,
        plugins: [
          lazyBuiltins,
          lazyHttp2,
          tables(texts, nameOf, true),
          bundlesPlugin(folder, modules, homes),
          englishOnly,
          lazyOclif,
          rarePackages,
        ],
        banner,
      }),
    ),
  );
  const schemas = await bundleSchemas(esbuild, {
    common: { ...common, ...small },
    folder,
    names: withSchemas,
    zodEntry: zodEntryOf(modules),
    plugins: [englishOnly],
  });
  const later = [...homes.modules.keys()].flatMap((name) =>
    modules.get(name).imports.late.map((specifier) => targetOf(name, specifier)),
  );
  const isEntry = (name) => /^(commands|api)\//.test(name) || (ownOfCommands.test(name) && later.includes(name));
  const entries = [...modules.keys()].filter((name) => isEntry(name) && !homes.modules.has(name));
  const usesServer = (name) => [...closure(modules, [name], () => true, true)].some((one) => one.startsWith("server/"));
  const real = new Set(entries.filter((name) => name.startsWith("api/") || usesServer(name)));
  const rest = await Promise.all(
    [true, false].map((isReal) =>
      esbuild.build({
        ...common,
        entryPoints: entries.filter((name) => real.has(name) === isReal).map((name) => join(folder, name)),
        ...small,
        plugins: [
          lazyBuiltins,
          ...(isReal ? [] : [tables(texts, nameOf, false)]),
          restPlugin(folder, homes, isReal ? ownOfCommands : notOfServer),
        ],
        banner,
      }),
    ),
  );
  const server = await bundleServer(esbuild, { common, folder, modules, homes, reexport, closure });
  const written = [...bundles, ...rest].flatMap(({ outputFiles }) => outputFiles);
  for (const { path, text } of [...written, ...schemas, ...tableFiles(texts, folder), ...server]) {
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

/** The modules and everything that they import when they are loaded (or later), as far as `within` allows. */
function closure(modules, names, within = () => true, andLater = false) {
  const reached = new Set();
  const visit = (name) => {
    if (reached.has(name) || !within(name)) return;
    reached.add(name);
    const { fixed, late } = modules.get(name).imports;
    for (const specifier of andLater ? [...fixed, ...late] : fixed)
      if (specifier.startsWith(".")) visit(targetOf(name, specifier));
  };
  for (const name of names) visit(name);
  return reached;
}

/** Where each bundled module and package is, and under which names the bundle exports what it exports. */
function homesOf(modules, members) {
  const homes = { modules: new Map(), packages: new Map([["zod", { from: "zod", names: [["z", "z"]] }]]) };
  let count = 0;
  for (const name of members) {
    const id = `m${count++}`;
    homes.modules.set(name, { from: "cli", names: modules.get(name).exports.map((own) => [own, `${id}_${own}`]) });
  }
  const wanted = new Set([...modules.values()].flatMap(({ imports }) => imports.fixed.filter(isPackage)));
  wanted.delete("zod");
  for (const specifier of wanted) {
    homes.packages.set(specifier, { from: "cli", id: `p${count++}`, names: Object.keys(require(specifier)) });
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

/** The parts of zod that are used. */
function zodEntryOf(modules) {
  const used = [...new Set([...modules.values()].flatMap(({ zod }) => zod))].sort();
  return `import * as all from "zod"; export const z = { ${used.map((name) => `${name}: all.${name}`)} };`;
}

/** The bundles themselves: their entries are generated, and libraries are included. */
function bundlesPlugin(folder, modules, homes) {
  const entries = {
    cli: () => entryOf("cli"),
    zod: () => zodEntryOf(modules),
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
        .map(([specifier, { id }]) => `export const ${id} = () => require(${JSON.stringify(specifier)});`),
      'export const svc_tables = () => require("svc-tables");',
    ].join("\n");
  const renamed = (names) => names.map(([own, named]) => `${own} as ${named}`).join(", ");
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
        // What is imported later is a file of its own.
        return homes.modules.has(name) || (ownOfCommands.test(name) && kind !== "dynamic-import")
          ? undefined
          : { path: `svc:${name}`, external: true };
      });
    },
  };
}

/** Commands and API: what is bundled elsewhere is imported from there. */
function restPlugin(folder, homes, own) {
  return {
    name: "rest",
    setup(build) {
      build.onResolve({ filter: /^svc-packages$/ }, ({ path }) => ({ path, namespace: "packages" }));
      build.onResolve({ filter: /.*/ }, ({ path, kind, resolveDir }) => {
        if (kind === "entry-point") return undefined;
        if (path.startsWith("svc:")) return { path, external: true };
        if (homes.packages.has(path)) return { path, namespace: "package" };
        if (libraries.includes(path) && kind === "import-statement")
          return { path: `svc:bundle/${path}.js`, external: true };
        const name = posix(relative(folder, resolve(resolveDir, path)));
        if (!path.startsWith(".")) return inlined.test(path) ? undefined : { path, external: true };
        if (name.startsWith("..")) return undefined;
        if (homes.modules.has(name)) return { path: name, namespace: "module" };
        return own.test(name) && name !== "cli/completion/complete.js"
          ? undefined
          : { path: `svc:${name}`, external: true };
      });
      build.onLoad({ filter: /.*/, namespace: "module" }, ({ path }) => {
        const { names, from } = homes.modules.get(path);
        return { contents: reexport(names, from) };
      });
      // Evaluated when a command first uses something in it.
      build.onLoad({ filter: /.*/, namespace: "package" }, ({ path }) => {
        const { id, names, from } = homes.packages.get(path);
        if (path === "zod") return { contents: reexport(names, from) };
        const getters = names.map((name) => `get ${name}() { return ${id}().${name}; }`);
        return { contents: `const { ${id} } = require("svc-packages");\nmodule.exports = { ${getters.join(", ")} };` };
      });
      build.onLoad({ filter: /.*/, namespace: "packages" }, () => {
        const ids = [...homes.packages.values()].flatMap(({ id }) => id ?? []);
        return { contents: `export { ${ids.join(", ")} } from "svc:bundle/cli.js";` };
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

/**
 * Modules of Node are loaded with the first use of one of their exports. An import of `node:fs` would read all exports,
 * some of which are getters that load streams, TLS or fetch; and many of the modules that a library requires are for
 * what a command does not do (HTTP/2, cryptography).
 */
const lazyBuiltins = {
  name: "lazy-builtins",
  setup: (build) => {
    const names = new Set(builtinModules.filter((name) => !name.startsWith("_")));
    build.onResolve({ filter: /^(node:)?[a-z_0-9]+(\/[a-z]+)?$/ }, ({ path, kind }) => {
      const name = path.replace(/^node:/, "");
      return names.has(name) && kind !== "dynamic-import" ? { path: name, namespace: "builtin" } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => {
      const real = require(`node:${path}`);
      const load = `process.getBuiltinModule("node:${path}")`;
      // `assert(condition)` needs the module only to report what has failed.
      if (path === "assert")
        return {
          contents: `const load = () => ${load};
module.exports = new Proxy((value, message) => { if (!value) load()(value, message); }, { get: (_, key) => load()[key] });`,
        };
      if (typeof real === "function") return { contents: `module.exports = ${load};` };
      return {
        contents: `let real;
const load = () => (real ??= ${load});
for (const name of ${JSON.stringify(Object.keys(real).join(" "))}.split(" "))
  Object.defineProperty(exports, name, { enumerable: true, get: () => load()[name] });`,
      };
    });
  },
};

/** undici loads HTTP/2, and with it TLS and cryptography, which take longer to load than everything else in it. */
const lazyHttp2 = {
  name: "lazy-http2",
  setup: (build) => {
    build.onResolve({ filter: /^\.\/client-h2\.js$/ }, ({ path, resolveDir, pluginData }) =>
      pluginData === "real"
        ? undefined
        : { path: join(resolveDir, path), namespace: "http2", pluginData: { resolveDir } },
    );
    build.onLoad({ filter: /.*/, namespace: "http2" }, async ({ pluginData: { resolveDir } }) => {
      const found = await build.resolve("./client-h2.js", { kind: "require-call", resolveDir, pluginData: "real" });
      return { contents: `module.exports = (...args) => require(${JSON.stringify(found.path)})(...args);`, resolveDir };
    });
  },
};

/**
 * The modules of oclif load each other with the first use of what they export. Its own files, as TypeScript writes them,
 * read every export at its use (`errors_1.CLIError`).
 */
const lazyOclif = {
  name: "lazy-oclif",
  setup: (build) =>
    build.onLoad({ filter: /[\\/]@oclif[\\/]core[\\/]lib[\\/].*\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const imported = /^(?:const|var) (\w+) = ((?:__import(?:Star|Default)\()?require\("[^"]+"\)\)?);$/gm;
      const lazy = "const lazily = (load) => new Proxy({}, { get: (_, key) => load()[key] });\n";
      const contents = text.replace(
        imported,
        (_, name, load) => `let ${name}_real; const ${name} = lazily(() => (${name}_real ??= ${load}));`,
      );
      return {
        contents: contents === text ? text : contents.replace(/^("use strict";\n)?/, `$1${lazy}`),
        loader: "js",
      };
    }),
};

/** What oclif needs for few commands stays where it is installed. */
const rarePackages = {
  name: "rare-packages",
  setup: (build) => {
    build.onResolve({ filter: rare }, ({ path, kind }) =>
      kind === "require-call" ? { path, namespace: "rare" } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: "rare" }, ({ path }) => ({
      contents: `let real;
const load = () => (real ??= requireFrom(require.resolve("@oclif/core/package.json"))(${JSON.stringify(path)}));
module.exports = new Proxy({}, { get: (_, key) => load()[key] });`,
    }));
  },
};

/** What `src/client/undici-parts.ts` exports. */
const undiciEntry = `import Agent from "undici/lib/dispatcher/agent.js";
import request from "undici/lib/api/api-request.js";
export { Agent, request };
`;
