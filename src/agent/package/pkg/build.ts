// Builds installer packages of macOS: with Apple's tools where they are, and elsewhere by itself.
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { PackageSetup } from "../files.ts";
import { isInstalled, run } from "../tools.ts";
import { COMPONENT, distribution, PKG_ID, packageInfo, pkgScripts } from "./contents.ts";
import { createCpio } from "./cpio.ts";
import { createXar } from "./xar.ts";

interface PkgBuild {
  readonly setup: PackageSetup;
  /** Empty, and nobody else's. */
  readonly folder: string;
  readonly draft: string;
  /** Seconds since 1970. */
  readonly epoch: number;
}

/** Writes a product archive with one component, which is not signed. */
export const buildPkg = async (build: PkgBuild): Promise<void> =>
  (await isInstalled("pkgbuild")) ? buildWithTools(build) : writeFile(build.draft, pkgOf(build.setup, build.epoch));

function pkgOf(setup: PackageSetup, epoch: number): Buffer {
  const scripts = gzipSync(createCpio(pkgScripts(setup), epoch));
  return createXar(
    [
      { name: "Distribution", content: Buffer.from(distribution(setup, `#${COMPONENT}`)) },
      {
        name: COMPONENT,
        entries: [
          { name: "PackageInfo", content: Buffer.from(packageInfo(setup.version)) },
          { name: "Scripts", content: scripts },
        ],
      },
    ],
    epoch,
  );
}

/** An empty payload, unlike none, leaves a receipt on the host. */
async function buildWithTools({ setup, folder, draft }: PkgBuild): Promise<void> {
  const [root, scripts, components] = [join(folder, "root"), join(folder, "scripts"), join(folder, "components")];
  for (const folder of [root, scripts, components]) await mkdir(folder, { mode: 0o755 });
  for (const { name, content, mode } of pkgScripts(setup)) {
    await writeFile(join(scripts, name), content, { mode });
    await chmod(join(scripts, name), mode);
  }
  const [component, description] = [join(components, COMPONENT), join(folder, "Distribution")];
  await writeFile(description, distribution(setup, COMPONENT));
  const identity = ["--identifier", PKG_ID, "--version", setup.version];
  await run("pkgbuild", ["--root", root, "--scripts", scripts, ...identity, component]);
  await run("productbuild", ["--distribution", description, "--package-path", components, draft]);
}
