// A command line calls a few endpoints, and builds the schema of hardly any. So commands get, in place of the modules
// of the API that declare schemas:
//
//   a table     of each group of endpoints, in bundle/tables/**: method, path, and whatever else is plain data, with
//               the outline of the schemas (src/api/outline.ts); an entry is read with the first use of its endpoint
//   constants   as they are
//   the rest    schemas, and functions beside them, from bundle/schemas.cjs, which has all modules of the API and zod.
//               It is loaded with the first use of one of them, and of its modules only those that are needed.
//
// The server, and commands that run it in their own process, use the modules of the API themselves.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const SCHEMAS = "svc:bundle/schemas.cjs";
/** What tables leave out, because few commands need it: it comes from the endpoint itself. */
const schemaParts = ["params", "query", "headers", "body", "response", "summary"];

/** What most endpoints have, and tables leave out. */
const usual = {
  ...{ root: false, exact: false, tier: "free", status: 200, stability: "stable", strict: false, hasHead: false },
  ...{ hasBody: false, produces: null, mediaType: "application/json", dryRun: null, isSlow: false, reveals: false },
  ...{ aliases: [], otherStatus: [], purpose: "other", takes: { kind: "json" } },
  ...{ bodyLimit: 5 * 1024 * 1024, strangerLimit: 5 * 1024 * 1024 },
  outline: { query: [], hasIdOrder: false, hasMeta: false },
};

/** The modules of the API that import zod, by themselves or through others. */
export function schemaModules(modules, closure) {
  const inApi = [...modules.keys()].filter((name) => name.startsWith("api/"));
  const usesZod = (name) => [...closure(modules, [name])].some((one) => modules.get(one).imports.fixed.includes("zod"));
  return new Set(inApi.filter(usesZod));
}

/** The text of the table that replaces each of these modules, and the names of its members, by the module's name. */
export async function tablesOf(folder, names) {
  const load = (name) => import(pathToFileURL(join(folder, name)).href);
  const { outlineOf } = await load("api/outline.js");
  const texts = new Map();
  for (const name of names) {
    const exported = Object.entries(await load(name));
    const members = exported.map(([key, value]) => memberOf(name, key, value, outlineOf));
    const text = `module.exports = ({ schemas, group }) => ({\n${members.join("\n")}\n});\n`;
    texts.set(name, { text, keys: exported.map(([key]) => key) });
  }
  return texts;
}

function memberOf(name, key, value, outlineOf) {
  const quoted = JSON.stringify(key);
  const real = `schemas(${JSON.stringify(name)})[${quoted}]`;
  if (isPlain(value)) return `${quoted}: ${JSON.stringify(value)},`;
  if (!isGroup(value)) return `get ${quoted}() { return ${real}; },`;
  const rows = Object.entries(value).map(
    ([one, endpoint]) => `${JSON.stringify(one)}: ${JSON.stringify(rowOf(endpoint, outlineOf))}`,
  );
  return `get ${quoted}() { return group(${JSON.stringify(`${name} ${key}`)}, () => ({ ${rows.join(",\n")} }), () => ${real}); },`;
}

/** An endpoint as JSON, without what is usual. */
function rowOf(endpoint, outlineOf) {
  const data = Object.entries({ ...endpoint, outline: outlineOf(endpoint) }).filter(
    ([key, value]) => !schemaParts.includes(key) && JSON.stringify(value) !== JSON.stringify(usual[key]),
  );
  const odd = data.find(([, value]) => !isPlain(value));
  if (odd) throw new Error(`${endpoint.method} ${endpoint.path}: ${odd[0]} is not plain data`);
  return JSON.stringify(Object.fromEntries(data));
}

/** Whether the value is a group of endpoints. */
export const isGroup = (value) =>
  typeof value === "object" &&
  value !== null &&
  Object.values(value).length > 0 &&
  Object.values(value).every((one) => typeof one === "object" && one !== null && "method" in one && "response" in one);

/** Whether the value survives JSON. */
export function isPlain(value) {
  if (Array.isArray(value)) return value.every(isPlain);
  if (typeof value === "object" && value !== null)
    return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isPlain);
  return value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value);
}

const fileOf = (name) => `bundle/tables/${name.replace(/^api\//, "").replace(/\.js$/, ".cjs")}`;

/** The files of the tables. */
export const tableFiles = (texts, folder) =>
  [...texts].map(([name, { text }]) => ({ path: join(folder, fileOf(name)), text }));

/**
 * Replaces the modules in commands, and in bundle/cli.js (`isHome`): this alone has what makes endpoints from tables, so
 * that they are the same objects for all commands and libraries of a process.
 */
export const tables = (texts, nameOf, isHome) => ({
  name: "tables",
  setup(build) {
    const external = /^svc:bundle\/(schemas\.cjs|tables\/.*|cli\.js)$/;
    build.onResolve({ filter: external, namespace: "tables" }, ({ path }) => ({ path, external: true }));
    build.onResolve({ filter: /^svc-tables(-home)?$/ }, ({ path }) => ({ path, namespace: "tables" }));
    build.onResolve({ filter: /^(zod|\..*\.js)$/ }, ({ path, resolveDir, kind, namespace }) => {
      if (kind === "entry-point" || namespace !== "file") return undefined;
      if (path === "zod") return nameOf(resolveDir, ".").startsWith("..") ? undefined : { path, namespace: "tables" };
      const name = nameOf(resolveDir, path);
      return texts.has(name) ? { path: name, namespace: "tables" } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace: "tables" }, ({ path }) => ({ contents: contentsOf(path) }));
    const contentsOf = (path) => {
      if (path === "svc-tables") return isHome ? runtime : 'module.exports = require("svc-tables-home").svc_tables();';
      if (path === "svc-tables-home") return 'export { svc_tables } from "svc:bundle/cli.js";';
      if (path === "zod") return 'module.exports = { get z() { return require("svc-tables").schemas("zod").z; } };';
      const keys = JSON.stringify(texts.get(path).keys.join(" "));
      return `require("svc-tables").table(exports, ${keys}, () => require("svc:${fileOf(path)}"));`;
    };
  },
});

const runtime = `
const schemas = (name) => require(${JSON.stringify(SCHEMAS)})[name]();
const groups = new Map();
const usual = ${JSON.stringify(usual)};
const lazy = (object, key, get) =>
  Object.defineProperty(object, key, { enumerable: true, configurable: true, get });
const endpointOf = (row, load) => {
  const endpoint = { ...usual, ...JSON.parse(row) };
  for (const part of ${JSON.stringify(schemaParts)}) lazy(endpoint, part, () => load()[part]);
  return endpoint;
};
const group = (name, rows, load) => {
  if (groups.has(name)) return groups.get(name);
  const group = {};
  for (const [key, row] of Object.entries(rows())) {
    let endpoint;
    lazy(group, key, () => (endpoint ??= endpointOf(row, () => load()[key])));
  }
  groups.set(name, group);
  return group;
};
const table = (module, keys, load) => {
  let members;
  for (const key of keys.split(" ")) lazy(module, key, () => (members ??= load()({ schemas, group }))[key]);
};
module.exports = { schemas, table };
`;

/**
 * Node 20 has only an optimizing compiler that is worth its time in processes of seconds: without this, a quarter of the
 * CPU time of `svc plan` is spent in it. Later versions of Node have a quick one besides.
 */
const optimizeLater = `if (process.versions.node.startsWith("20."))
  process.getBuiltinModule("node:v8").setFlagsFromString("--interrupt-budget=1000000");`;

/** All modules of the API with zod, each of which is evaluated when it is first needed. */
export async function bundleSchemas(esbuild, { common, folder, names, zodEntry, plugins }) {
  const members = [...names, "zod"].map(
    (name) => `${JSON.stringify(name)}: () => require(${JSON.stringify(name === "zod" ? "zod" : join(folder, name))}),`,
  );
  const { outputFiles } = await esbuild.build({
    ...common,
    format: "cjs",
    entryPoints: [{ in: "schemas", out: "bundle/schemas" }],
    outExtension: { ".js": ".cjs" },
    banner: { js: optimizeLater },
    plugins: [
      {
        name: "schemas",
        setup(build) {
          build.onResolve({ filter: /^schemas$/ }, ({ path }) => ({ path, namespace: "schemas" }));
          build.onResolve({ filter: /^zod$/ }, ({ path, namespace }) =>
            namespace === "zod" ? undefined : { path, namespace: "zod" },
          );
          build.onLoad({ filter: /.*/, namespace: "schemas" }, () => ({
            contents: `module.exports = { ${members.join("\n")} };`,
            resolveDir: folder,
          }));
          build.onLoad({ filter: /.*/, namespace: "zod" }, () => ({ contents: zodEntry, resolveDir: folder }));
        },
      },
      ...plugins,
    ],
  });
  return outputFiles;
}
