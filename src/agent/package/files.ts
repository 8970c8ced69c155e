// The agent as a package of a Linux system: the files of an installation, and what dpkg and rpm run beside them.

import { posix } from "node:path";
import { configFolder, defaultStateDir, EXECUTABLE_PATH, type ServiceSetup, servicePlan } from "../service/plan.ts";
import type { ServiceFile } from "../service/service-plan.ts";

export const AGENT_PATH = "/opt/svc-agent/agent.mjs";

export interface PackageSetup extends Omit<ServiceSetup, "platform" | "program" | "stateDir"> {
  readonly version: string;
  /** Null: the default of the host's system. */
  readonly stateDir: string | null;
  readonly program: PackageProgram;
}

export type PackageProgram =
  /** The agent as one file, and where the hosts have Node. */
  | { readonly node: string; readonly agent: string }
  /** The agent and Node in one program, for machines of this architecture as Node names it. */
  | { readonly executable: Uint8Array; readonly arch: string };

/** `content`: large ones are bytes. */
export type PackageFile = Omit<ServiceFile, "content"> & { readonly content: string | Uint8Array };

const stateDirOf = ({ stateDir }: PackageSetup): string => stateDir ?? defaultStateDir("linux");

/** The files of an installation on Linux. */
export function packageFiles(setup: PackageSetup): readonly PackageFile[] {
  const { program } = setup;
  const [path, content] = "executable" in program ? [EXECUTABLE_PATH, program.executable] : [AGENT_PATH, program.agent];
  const argv = "executable" in program ? [path] : [program.node, path];
  const { files } = servicePlan({ ...setup, stateDir: stateDirOf(setup), platform: "linux", program: argv });
  return [{ path, content, mode: 0o755 }, ...files];
}

/** Names of Node's architectures: of Debian, and of rpm. */
const architectures: Readonly<Record<string, { readonly deb: string; readonly rpm: string }>> = {
  x64: { deb: "amd64", rpm: "x86_64" },
  arm64: { deb: "arm64", rpm: "aarch64" },
};

/** Packages without a program of their own are for all architectures. */
export function architectureOf(type: "deb" | "rpm", program: PackageProgram): string {
  if ("executable" in program) return architectures[program.arch]?.[type] ?? program.arch;
  return type === "deb" ? "all" : "noarch";
}

/** The C++ library of Node, which minimal systems may lack; newer Node needs another one. */
function debDepends(program: PackageProgram): string {
  if (!("executable" in program)) return "nodejs (>= 20.19)";
  const needsAtomic = Buffer.from(program.executable).includes("libatomic.so.1");
  return `libc6, libgcc-s1, libstdc++6${needsAtomic ? ", libatomic1" : ""}`;
}

/** The tools of both systems sort `1.0~rc` before `1.0`; a dash separates a revision. */
export const systemVersion = (version: string): string => version.replaceAll("-", "~");

const summary = "agent of svc";
const description = "Reports the inventory of this machine, answers queries, runs scripts and installs software.";

const control = ({ version, program }: PackageSetup) => `Package: svc-agent
Version: ${systemVersion(version)}
Architecture: ${architectureOf("deb", program)}
Maintainer: the administrators of this host's organization <root@localhost>
Depends: ${debDepends(program)}
Section: admin
Priority: optional
Description: ${summary}
 ${description}
`;

const LINK = "/etc/systemd/system/multi-user.target.wants/svc-agent.service";

/** Without systemd, such as while an image is built, the service starts with the machine. */
const start = `if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl enable svc-agent
  systemctl restart svc-agent
else
  mkdir -p ${posix.dirname(LINK)}
  ln -sf /etc/systemd/system/svc-agent.service ${LINK}
fi
`;
const stop = `if [ -d /run/systemd/system ]; then systemctl disable --now svc-agent || true; fi
rm -f ${LINK}
`;
const reload = "if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi\n";

const debScript = (text: string) => `#!/bin/sh\nset -e\n${text}`;

/** The files of dpkg's folder in the tree of a package. Only purging forgets the keys and the journals. */
export const debFiles = (setup: PackageSetup): readonly PackageFile[] =>
  [
    { name: "control", content: control(setup), mode: 0o644 },
    { name: "postinst", content: debScript(`if [ "$1" = configure ]; then\n${start}fi\n`), mode: 0o755 },
    { name: "prerm", content: debScript(`if [ "$1" = remove ]; then\n${stop}fi\n`), mode: 0o755 },
    {
      name: "postrm",
      content: debScript(
        `${reload}if [ "$1" = purge ]; then rm -rf -- '${stateDirOf(setup).replaceAll("'", "'\\''")}'; fi\n`,
      ),
      mode: 0o755,
    },
  ].map(({ name, ...file }) => ({ ...file, path: posix.join("/DEBIAN", name) }));

/** For rpmbuild. `tree` has the files; the lines below %files are constant paths, so they need no quotes. */
export const rpmSpec = (setup: PackageSetup, tree: string): string => `Name: svc-agent
Version: ${systemVersion(setup.version)}
Release: 1
Summary: ${summary}
License: MIT
${
  "executable" in setup.program
    ? // rpm finds the libraries that the program needs.
      "%global debug_package %{nil}"
    : "BuildArch: noarch\nAutoReqProv: no\nRequires: nodejs >= 20.19"
}

%description
${description}

%install
cp -a '${tree}/.' '%{buildroot}/'

%post
${start}
%preun
if [ "$1" = 0 ]; then
${stop}fi

%postun
${reload}
%files
%dir %attr(0755,root,root) ${posix.dirname(AGENT_PATH)}
%dir %attr(0755,root,root) ${configFolder("linux")}
${packageFiles(setup)
  .map(({ path, mode }) => `%attr(${mode.toString(8).padStart(4, "0")},root,root) ${path}`)
  .join("\n")}
`;
