// The agent as a package of a Linux system: the files of an installation, and what dpkg and rpm run beside them.
import { posix } from "node:path";
import { type ServiceFile, type ServiceSetup, servicePlan } from "../service/plan.ts";

export const AGENT_PATH = "/opt/svc-agent/agent.mjs";

export interface PackageSetup extends Omit<ServiceSetup, "platform" | "program"> {
  /** Where the hosts have Node. */
  readonly node: string;
  readonly version: string;
  /** The agent as one file. */
  readonly agent: string;
}

export function packageFiles({ node, agent, ...setup }: PackageSetup): readonly ServiceFile[] {
  const { files } = servicePlan({ ...setup, platform: "linux", program: [node, AGENT_PATH] });
  return [{ path: AGENT_PATH, content: agent, mode: 0o755 }, ...files];
}

/** Both tools sort `1.0~rc` before `1.0`; a dash separates a revision. */
export const systemVersion = (version: string): string => version.replaceAll("-", "~");

const summary = "agent of svc";
const description = "Reports the inventory of this machine, answers queries, runs scripts and installs software.";

const control = (version: string) => `Package: svc-agent
Version: ${systemVersion(version)}
Architecture: all
Maintainer: the administrators of this host's organization <root@localhost>
Depends: nodejs (>= 20.19)
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
export const debFiles = ({ version, stateDir }: PackageSetup): readonly ServiceFile[] =>
  [
    { name: "control", content: control(version), mode: 0o644 },
    { name: "postinst", content: debScript(`if [ "$1" = configure ]; then\n${start}fi\n`), mode: 0o755 },
    { name: "prerm", content: debScript(`if [ "$1" = remove ]; then\n${stop}fi\n`), mode: 0o755 },
    {
      name: "postrm",
      content: debScript(`${reload}if [ "$1" = purge ]; then rm -rf -- '${stateDir.replaceAll("'", "'\\''")}'; fi\n`),
      mode: 0o755,
    },
  ].map(({ name, ...file }) => ({ ...file, path: posix.join("/DEBIAN", name) }));

/** For rpmbuild. `tree` has the files; the lines below %files are constant paths, so they need no quotes. */
export const rpmSpec = (setup: PackageSetup, tree: string): string => `Name: svc-agent
Version: ${systemVersion(setup.version)}
Release: 1
Summary: ${summary}
License: MIT
BuildArch: noarch
AutoReqProv: no
Requires: nodejs >= 20.19

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
${packageFiles(setup)
  .map(({ path, mode }) => `%attr(${mode.toString(8).padStart(4, "0")},root,root) ${path}`)
  .join("\n")}
`;
