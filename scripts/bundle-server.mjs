// `svc serve` would load six hundred modules of the server, and a thousand files of packages. This turns them into a few
// files, as scripts/bundle.mjs does for the command line:
//
//   server/**              the modules that commands import, and those with which threads start (*.thread.js), under
//                          their own names
//   bundle/server-*.js     everything else that a start needs; what is loaded later (engines of the store, mail, the
//                          bucket) in files of its own
//
// The text is not minified: each module begins with a comment that has its name, so that places in stack traces lead
// to it.
import { dirname, join, relative, resolve } from "node:path";

/**
 * Packages that nearly every start needs. Others stay separate: those with native code, and those that are loaded
 * later and that few servers use.
 */
const started =
  /^(@fastify\/busboy|h3|listhen|pino|pino-pretty|prom-client|ws|jose|saxes|yaml|sql-template-tag|lowdb|rotating-file-stream)(\/|$)/;
/** Packages that others import without needing them for what the server does with them. */
const rare = /^node-forge$/;

/** The built files of the server, as esbuild returns them, and the modules that are now part of them. */
export async function bundleServer(esbuild, { common, folder, modules, homes, reexport, closure }) {
  const entries = entriesOf(modules);
  // In one process each module exists once: the server shares those of the API with the commands that use the server.
  const users = [...modules.keys()].filter((name) => name.startsWith("commands/") && usesAny(modules, name, entries));
  const shared = closure(modules, users, (name) => !name.startsWith("server/"));
  const isBundled = (name) =>
    /^(server|packages|text|pki|plist|xml|soap|syncml)\//.test(name)
      ? !modules.get(name).readsFiles
      : /^(api|license)\//.test(name) && !shared.has(name);
  for (const [name, { readsFiles }] of modules)
    if (name.startsWith("server/") && readsFiles && targetsOf(modules, name).length > 0)
      throw new Error(`${name} finds files by its own place and is not bundled: what it imports would exist twice`);
  const own = (path) => relative(folder, path).replaceAll("\\", "/");
  const { outputFiles } = await esbuild.build({
    ...common,
    entryPoints: [...entries].map((name) => join(folder, name)),
    splitting: true,
    chunkNames: "bundle/server-[name]-[hash]",
    // ws would look for optional native packages.
    define: { "process.env.WS_NO_BUFFER_UTIL": '"1"', "process.env.WS_NO_UTF_8_VALIDATE": '"1"' },
    banner: {
      js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
    },
    plugins: [
      {
        name: "server",
        setup(build) {
          build.onResolve({ filter: /.*/ }, ({ path, importer, namespace, resolveDir, kind }) => {
            if (kind === "entry-point") return undefined;
            if (path.startsWith("svc:") || namespace !== "file") return { path, external: true };
            const ours = !own(importer).startsWith("..");
            if (!ours) {
              if (rare.test(path)) return { path, namespace: "rare" };
              // What packages load only on demand.
              return kind === "dynamic-import" && !path.startsWith(".") ? { path, external: true } : undefined;
            }
            if (path === "zod") return { path: "svc:bundle/zod.js", external: true };
            if (!path.startsWith(".")) return started.test(path) ? undefined : { path, external: true };
            const name = own(resolve(resolveDir, path));
            if (homes.modules.has(name)) return { path: name, namespace: "home" };
            return isBundled(name) ? undefined : { path: `svc:${name}`, external: true };
          });
          build.onLoad({ filter: /.*/, namespace: "home" }, ({ path }) => {
            const { names, from } = homes.modules.get(path);
            return { contents: reexport(names, from) };
          });
          build.onLoad({ filter: /.*/, namespace: "rare" }, ({ path }) => ({
            contents: `export default new Proxy({}, { get: (_, key) => require(${JSON.stringify(path)})[key] });`,
          }));
        },
      },
    ],
  });
  return outputFiles;
}

const targetsOf = (modules, name) =>
  Object.values(modules.get(name).imports)
    .flat()
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => join(dirname(name), specifier).replaceAll("\\", "/"));

const usesAny = (modules, name, wanted) => targetsOf(modules, name).some((target) => wanted.has(target));

/** Threads start with these modules (src/server/platform/core/concurrency/thread.ts), which nothing imports. */
export const startsThread = (name) => name.endsWith(".thread.js");

/** The modules of the server that others import, and those with which threads start. */
function entriesOf(modules) {
  const entries = new Set([...modules.keys()].filter(startsThread));
  for (const name of modules.keys())
    if (!name.startsWith("server/"))
      for (const target of targetsOf(modules, name)) if (target.startsWith("server/")) entries.add(target);
  return entries;
}
