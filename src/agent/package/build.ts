// Builds packages of the agent with the tools of the system. The same input gives the same bytes.
import { execFile } from "node:child_process";
import { chmod, copyFile, lutimes, mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { gzipSync } from "node:zlib";
import { createTar } from "nanotar";
import type { ServiceFile } from "../service/plan.ts";
import { SetupError } from "../setup.ts";
import { debFiles, type PackageSetup, packageFiles, rpmSpec, systemVersion } from "./files.ts";

export const packageTypes = ["deb", "rpm", "tar"] as const;
export type PackageType = (typeof packageTypes)[number];

/** The name that each system's tools give to such files. */
export function packageName(type: PackageType, version: string): string {
  if (type === "deb") return `svc-agent_${systemVersion(version)}_all.deb`;
  return type === "rpm" ? `svc-agent-${systemVersion(version)}-1.noarch.rpm` : `svc-agent-${version}.tar.gz`;
}

/** `epoch`: seconds since 1970 that all files get as their time. */
export async function buildPackage(type: PackageType, setup: PackageSetup, file: string, epoch: number): Promise<void> {
  // Beside its place, so that it can be moved there; created first, so that nobody else reads it while it grows.
  const draft = `${file}.${process.pid}.tmp`;
  const folder = await mkdtemp(join(tmpdir(), "svc-package-"));
  try {
    await writeFile(draft, "", { mode: 0o600 }).catch((error: Error) => {
      throw new SetupError("failed", `${file} cannot be written: ${error.message}`);
    });
    await builders[type]({ setup, folder, draft, epoch });
    await chmod(draft, 0o600);
    await rename(draft, file);
  } finally {
    for (const path of [draft, folder]) await rm(path, { recursive: true, force: true });
  }
}

interface Build {
  readonly setup: PackageSetup;
  /** Empty, and nobody else's. */
  readonly folder: string;
  readonly draft: string;
  readonly epoch: number;
}

const builders: Record<PackageType, (build: Build) => Promise<void>> = {
  async deb({ setup, folder, draft, epoch }) {
    const tree = join(folder, "tree");
    await writeTree(tree, [...packageFiles(setup), ...debFiles(setup)], epoch);
    await run("dpkg-deb", "dpkg", ["--root-owner-group", "-Zgzip", "--build", tree, draft], epoch);
  },
  async rpm({ setup, folder, draft, epoch }) {
    const [tree, spec, out] = [join(folder, "tree"), join(folder, "svc-agent.spec"), join(folder, "out")];
    await writeTree(tree, packageFiles(setup), epoch);
    await writeFile(spec, rpmSpec(setup, tree));
    const macros = {
      _topdir: join(folder, "build"),
      _rpmdir: out,
      _buildhost: "localhost",
      _build_id_links: "none",
      use_source_date_epoch_as_buildtime: "1",
      clamp_mtime_to_source_date_epoch: "1",
      _binary_payload: "w6.gzdio",
      // Nothing in the files is changed by the scripts of the distribution.
      __os_install_post: "%{nil}",
      __brp_mangle_shebangs: "%{nil}",
    };
    const defines = Object.entries(macros).flatMap(([name, value]) => ["--define", `${name} ${value}`]);
    await run("rpmbuild", "rpm", ["-bb", "--quiet", "--target", "noarch", ...defines, spec], epoch);
    const [built] = await readdir(join(out, "noarch"));
    await copyFile(join(out, "noarch", built!), draft);
  },
  async tar({ setup, draft, epoch }) {
    const files = packageFiles(setup);
    const owner = { uid: 0, gid: 0, user: "root", group: "root", mtime: epoch * 1000 };
    const folders = foldersOf(files).map((name) => ({ name: `${name}/`, attrs: { ...owner, mode: "755" } }));
    const contents = files.map(({ path, content, mode }) => ({
      name: path.slice(1),
      data: content,
      attrs: { ...owner, mode: mode.toString(8) },
    }));
    await writeFile(draft, gzipSync(createTar([...folders, ...contents]), { level: 9 }));
  },
};

/** Folders before what is in them. */
function foldersOf(files: readonly ServiceFile[]): string[] {
  const folders = new Set<string>();
  for (const { path } of files)
    for (let at = posix.dirname(path); at !== "/"; at = posix.dirname(at)) folders.add(at.slice(1));
  return [...folders].sort();
}

async function writeTree(tree: string, files: readonly ServiceFile[], epoch: number): Promise<void> {
  await mkdir(tree, { mode: 0o755 });
  for (const { path, content, mode } of files) {
    const place = join(tree, path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, content, { mode });
    await chmod(place, mode);
    await utimes(place, epoch, epoch);
  }
  // Folders last: writing into them changes their times. A umask of 077 must not close /etc on a host.
  for (const name of ["", ...foldersOf(files)].reverse()) {
    await chmod(join(tree, name), 0o755);
    await lutimes(join(tree, name), epoch, epoch);
  }
}

/** `from`: the package in which Debian and Ubuntu have the program. */
const run = (program: string, from: string, args: readonly string[], epoch: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch), LC_ALL: "C" };
    execFile(program, args, { env, maxBuffer: 16 * 1024 * 1024 }, (error, _, stderr) => {
      if (error === null) resolve();
      else if (error.code === "ENOENT")
        reject(
          new SetupError("failed", `${program} is not installed`, `On Debian and Ubuntu: apt-get install ${from}`),
        );
      else reject(new SetupError("failed", `${program} failed: ${stderr.trim() || error.message}`));
    });
  });
