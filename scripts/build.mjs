// Builds dist/ from src/ and writes oclif.manifest.json. It also runs as npm's `prepare` script, so it must work
// without the development dependencies if everything is up to date. --force builds in any case.
import { spawnSync } from "node:child_process";
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildConsole } from "./build-console.mjs";
import { buildInfo, sourceInfo } from "./build-info.mjs";
import { bundle } from "./bundle.mjs";
import { bundleAgent } from "./bundle-agent.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
const stamp = join(dist, ".built.json");
const infoFile = join(dist, "build-info.json");
const manifestFile = join(root, "oclif.manifest.json");

async function filesBelow(folder) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

async function fingerprint() {
  const files = [
    ...(await filesBelow("src")),
    ...["package.json", "tsconfig.json", "tsconfig.build.json"].map((f) => join(root, f)),
    ...["build-console.mjs", "bundle.mjs", "bundle-agent.mjs", "bundle-api.mjs", "bundle-server.mjs"].map((f) =>
      join(root, "scripts", f),
    ),
  ];
  const parts = await Promise.all(
    files.map(async (file) => {
      const { mtimeMs, size } = await stat(file);
      return `${file.slice(root.length)} ${mtimeMs} ${size}`;
    }),
  );
  return parts;
}

/** Commands that start meanwhile read the old text or the new one. */
async function replaceFile(file, text) {
  const next = `${file}.${process.pid}`;
  await writeFile(next, text);
  await rename(next, file);
}

const readJson = async (file) => {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return null;
  }
};

function compiler() {
  try {
    return createRequire(import.meta.url).resolve("typescript/package.json");
  } catch {
    return null;
  }
}

async function compile() {
  const found = compiler();
  if (found === null) {
    console.error("svc: typescript is not installed: run `npm install` with development dependencies to build");
    process.exit(1);
  }
  // Built in another folder and swapped in, so that a command or server that runs meanwhile never sees a partial
  // build.
  const next = join(root, "tmp", `build-${process.pid}`);
  await rm(next, { recursive: true, force: true });
  await mkdir(dirname(next), { recursive: true });
  const { status } = spawnSync(
    process.execPath,
    [join(dirname(found), "bin", "tsc"), "-p", "tsconfig.build.json", "--outDir", next],
    { cwd: root, stdio: "inherit" },
  );
  if (status !== 0) {
    await rm(next, { recursive: true, force: true });
    process.exit(status ?? 1);
  }
  for (const file of await filesBelow("src")) {
    if (/\.(ts|md)$/.test(file) || file.startsWith(join(root, "src", "console"))) continue;
    await cp(file, join(next, file.slice(join(root, "src").length + 1)));
  }
  await bundleAgent(root, join(next, "agent.mjs"));
  // The modules of the console are those of browsers: they are no part of what is bundled for Node.
  const browser = `${next}-browser`;
  await buildConsole(root, next, browser);
  await bundle(next, dist);
  await rename(browser, join(next, "browser"));
  const old = join(root, "tmp", `old-${process.pid}`);
  await rename(dist, old).catch(() => {});
  await rename(next, dist);
  await rm(old, { recursive: true, force: true });
}

/** The manifest lets a command start without loading all others. It is generated without the `oclif` package. */
async function writeManifest() {
  process.env.NODE_ENV = "production";
  const { Plugin, settings } = await import("@oclif/core");
  settings.enableAutoTranspile = false;
  const plugin = new Plugin({
    root,
    isRoot: true,
    ignoreManifest: true,
    errorOnManifestCreate: true,
    respectNoCacheDefault: true,
  });
  await plugin.load();
  const { allEndpoints } = await import(pathToFileURL(join(dist, "api", "all.js")).href);
  // By what identifies an endpoint, because commands have tables instead of the endpoints themselves.
  const keyOf = ({ method, path, root }) => `${method} ${root} ${path}`;
  const names = new Map(allEndpoints.map(({ name, endpoint }) => [keyOf(endpoint), name]));
  const commands = {};
  for (const id of Object.keys(plugin.manifest.commands).sort()) {
    // Endpoints are stored by name, because they contain whole schemas; `svc explain` only needs the names.
    const { endpoints, destructive, ...command } = plugin.manifest.commands[id];
    commands[id] = {
      ...command,
      ...(destructive ? { destructive } : {}),
      ...(endpoints?.length > 0 ? { endpoints: endpoints.map((endpoint) => names.get(keyOf(endpoint))) } : {}),
      relativePath: command.relativePath.map((part) => part.split(sep).join("/")),
    };
  }
  const text = `${JSON.stringify({ commands, version: plugin.version })}\n`;
  const before = await readFile(manifestFile, "utf8").catch(() => "");
  if (text !== before) await writeFile(manifestFile, text);
}

// Without the mode bits (lost in a checkout), `npx svc` fails with "Permission denied" if npx has linked it before.
if (process.platform !== "win32") await chmod(join(root, "bin", "run.js"), 0o755);

const before = await fingerprint();
const built = await readJson(stamp);
const current = JSON.stringify(built?.files) === JSON.stringify(before) && (await readJson(manifestFile)) !== null;
if (!current || process.argv.includes("--force")) {
  await compile();
  await writeManifest();
  await writeFile(stamp, JSON.stringify({ files: before }));
}
// A commit, or another branch, changes no file: the build stays, and its description is replaced.
const source = sourceInfo(root);
const described = await readJson(infoFile);
if (described?.revision !== source.revision || described.branch !== source.branch)
  await replaceFile(infoFile, `${JSON.stringify(buildInfo(source))}\n`);
