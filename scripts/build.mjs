// Builds dist/ from src/ and writes oclif.manifest.json. Runs as npm's `prepare` too, so it needs nothing that is not
// installed, and does nothing when everything is up to date (--force builds all the same).
import { spawnSync } from "node:child_process";
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { vendor } from "./vendor.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
const stamp = join(dist, ".built.json");
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
    ...["package.json", "tsconfig.json", "tsconfig.build.json", "scripts/vendor.mjs"].map((f) => join(root, f)),
  ];
  const parts = await Promise.all(
    files.map(async (file) => {
      const { mtimeMs, size } = await stat(file);
      return `${file.slice(root.length)} ${mtimeMs} ${size}`;
    }),
  );
  return parts;
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
  // Built beside and swapped in: a command or server that runs meanwhile never sees half a build.
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
    if (file.endsWith(".ts")) continue;
    await cp(file, join(next, file.slice(join(root, "src").length + 1)));
  }
  await vendor(next);
  const old = join(root, "tmp", `old-${process.pid}`);
  await rename(dist, old).catch(() => {});
  await rename(next, dist);
  await rm(old, { recursive: true, force: true });
}

/** The manifest lets a command start without loading all others; the `oclif` package is not needed for it. */
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
  const names = new Map(allEndpoints.map(({ name, endpoint }) => [endpoint, name]));
  const commands = {};
  for (const id of Object.keys(plugin.manifest.commands).sort()) {
    // Endpoints themselves would be whole schemas; `svc explain` needs their names.
    const { endpoints, destructive, ...command } = plugin.manifest.commands[id];
    commands[id] = {
      ...command,
      ...(destructive ? { destructive } : {}),
      ...(endpoints?.length > 0 ? { endpoints: endpoints.map((endpoint) => names.get(endpoint)) } : {}),
      relativePath: command.relativePath.map((part) => part.split(sep).join("/")),
    };
  }
  const text = `${JSON.stringify({ commands, version: plugin.version })}\n`;
  const before = await readFile(manifestFile, "utf8").catch(() => "");
  if (text !== before) await writeFile(manifestFile, text);
}

// A checkout that lost the mode bits would leave `npx svc` with "Permission denied" where npx linked it before.
if (process.platform !== "win32") await chmod(join(root, "bin", "run.js"), 0o755);

const before = await fingerprint();
const built = await readJson(stamp);
const current = JSON.stringify(built?.files) === JSON.stringify(before) && (await readJson(manifestFile)) !== null;
if (!current || process.argv.includes("--force")) {
  await compile();
  await writeManifest();
  await writeFile(stamp, JSON.stringify({ files: before }));
}
