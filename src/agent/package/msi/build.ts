// Builds installer packages of Windows with msitools.
import { copyFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { PackageSetup } from "../files.ts";
import { CA_FILE, SECRET_FILE } from "../install-words.ts";
import { run } from "../tools.ts";
import { installScript, uninstallScript } from "./scripts.ts";
import { extraTables, guidOf, productVersion, sequenceQueries, wixSource } from "./tables.ts";

const hintOf = (from: string) => `On Debian and Ubuntu: apt-get install ${from}`;

interface MsiBuild {
  readonly setup: PackageSetup;
  /** Empty, and nobody else's. */
  readonly folder: string;
  readonly draft: string;
  /** Seconds since 1970. */
  readonly epoch: number;
}

/** The files beside the agent's program; the first one is what Windows looks for to see that it is installed. */
const setupFiles = (setup: PackageSetup): readonly (readonly [string, string])[] => [
  [SECRET_FILE, `${setup.enrollSecret}\r\n`],
  ...(setup.ca === null ? [] : [[CA_FILE, setup.ca] as const]),
  ["install.cmd", installScript(setup)],
  ["uninstall.cmd", uninstallScript(setup)],
];

/** Writes a package for 64 bits, which is not signed. Needs wixl and msibuild. */
export async function buildMsi({ setup, folder, draft, epoch }: MsiBuild): Promise<void> {
  const { program } = setup;
  const version = productVersion(setup.version);
  const programFile =
    "executable" in program
      ? (["svc-agent.exe", program.executable] as const)
      : (["agent.mjs", program.agent] as const);
  const files = [programFile, ...setupFiles(setup)];
  for (const [name, content] of files) {
    await writeFile(join(folder, name), content, { mode: 0o600 });
    await utimes(join(folder, name), epoch, epoch);
  }
  const contents = [setup.version, ...files.flat()];
  const productCode = guidOf("product", contents);
  const [source, msi] = [join(folder, "svc-agent.wxs"), join(folder, "svc-agent.msi")];
  await writeFile(
    source,
    wixSource(version, productCode, { program: programFile[0], setup: files.slice(1).map(([name]) => name) }),
  );
  await run("wixl", ["--arch", "x64", "--output", msi, source], { hint: hintOf("wixl"), folder });

  const tools = { hint: hintOf("msitools"), folder };
  for (const [name, table] of Object.entries(extraTables(version))) {
    await writeFile(join(folder, `${name}.idt`), table);
    await run("msibuild", [msi, "-i", join(folder, `${name}.idt`)], tools);
  }
  await run("msibuild", [msi, "-q", ...sequenceQueries], tools);
  // Every package needs its own code; wixl has given it a random one.
  await run("msibuild", [msi, "-s", "svc-agent", "svc", "x64;1033", guidOf("package", contents)], tools);
  await copyFile(msi, draft);
}
