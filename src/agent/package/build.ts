// Builds packages of the agent with the tools of the system. The same input gives the same bytes, except for what
// foreign tools make: msi, and pkg on macOS.
import {
  chmod,
  copyFile,
  lutimes,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { gzipSync } from "node:zlib";
import { createTar } from "nanotar";
import { SetupError } from "../setup.ts";
import { buildExecutable, type ExecutableParts } from "./executable.ts";
import {
  architectureOf,
  debFiles,
  type PackageFile,
  type PackageProgram,
  type PackageSetup,
  packageFiles,
  rpmSpec,
  systemVersion,
} from "./files.ts";
import { buildMsi } from "./msi/build.ts";
import { buildPkg } from "./pkg/build.ts";
import { run } from "./tools.ts";

export type PackageType = "deb" | "rpm" | "tar" | "pkg" | "msi";

/** The name that each system's tools give to such files. */
export function packageName(type: PackageType, version: string, program: PackageProgram): string {
  if (type === "deb") return `svc-agent_${systemVersion(version)}_${architectureOf("deb", program)}.deb`;
  if (type === "rpm") return `svc-agent-${systemVersion(version)}-1.${architectureOf("rpm", program)}.rpm`;
  const arch = "executable" in program ? `-${program.arch}` : "";
  if (type === "tar") return `svc-agent-${version}${arch && `-linux${arch}`}.tar.gz`;
  return `svc-agent-${version}${arch}.${type}`;
}

/** `epoch`: seconds since 1970 that all files get as their time. */
export const buildPackage = (type: PackageType, setup: PackageSetup, file: string, epoch: number): Promise<void> =>
  writeDraft(file, 0o600, (folder, draft) => builders[type]({ setup, folder, draft, epoch }));

/** The name of the executable for machines like this one. */
export const executableName = (version: string): string =>
  `svc-agent-${version}-${process.platform}-${process.arch}${process.platform === "win32" ? ".exe" : ""}`;

/** Writes the agent and Node as one program. Only its owner can read it, because its setup may contain the secret. */
export const writeExecutable = (parts: Omit<ExecutableParts, "folder">, file: string): Promise<void> =>
  writeDraft(file, 0o700, async (folder, draft) => {
    await copyFile(await buildExecutable({ ...parts, folder }), draft);
  });

/** The bytes of an executable that contains no setup. */
export async function executableOf(agent: string): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "svc-package-"));
  try {
    return await readFile(await buildExecutable({ agent, setup: null, folder }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Replaces the file by what the work writes to `draft`. `folder`: empty, and nobody else's. */
async function writeDraft(
  file: string,
  mode: number,
  work: (folder: string, draft: string) => Promise<void>,
): Promise<void> {
  // The draft is beside the file, so that it can be moved there; created first, so that nobody else reads it while it
  // grows.
  const draft = `${file}.${process.pid}.tmp`;
  const folder = await mkdtemp(join(tmpdir(), "svc-package-"));
  try {
    await writeFile(draft, "", { mode: 0o600 }).catch((error: Error) => {
      throw new SetupError("failed", `${file} cannot be written: ${error.message}`);
    });
    await work(folder, draft);
    await chmod(draft, mode);
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

/** `from`: the package in which Debian and Ubuntu have the program. */
const toolOf = (from: string, epoch: number) => ({
  env: { SOURCE_DATE_EPOCH: String(epoch) },
  hint: `On Debian and Ubuntu: apt-get install ${from}`,
});

const builders: Record<PackageType, (build: Build) => Promise<void>> = {
  async deb({ setup, folder, draft, epoch }) {
    const tree = join(folder, "tree");
    await writeTree(tree, [...packageFiles(setup), ...debFiles(setup)], epoch);
    await run("dpkg-deb", ["--root-owner-group", "-Zgzip", "--build", tree, draft], toolOf("dpkg", epoch));
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
    const arch = architectureOf("rpm", setup.program);
    await run("rpmbuild", ["-bb", "--quiet", "--target", arch, ...defines, spec], toolOf("rpm", epoch));
    const [built] = await readdir(join(out, arch));
    await copyFile(join(out, arch, built!), draft);
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
    await writeFile(draft, gzipSync(createTar([...folders, ...contents])));
  },
  pkg: buildPkg,
  msi: buildMsi,
};

/** Folders before what is in them. */
function foldersOf(files: readonly PackageFile[]): string[] {
  const folders = new Set<string>();
  for (const { path } of files)
    for (let at = posix.dirname(path); at !== "/"; at = posix.dirname(at)) folders.add(at.slice(1));
  return [...folders].sort();
}

async function writeTree(tree: string, files: readonly PackageFile[], epoch: number): Promise<void> {
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
