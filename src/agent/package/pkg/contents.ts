// The agent as an installer package of macOS. All of it is in the folder of the package's scripts, which the system
// unpacks where only root can read it, and removes after the installation: the script installs the agent from there.
import { quotedShellWord } from "../../../text/shell.ts";
import { AGENT_PATH, type PackageSetup } from "../files.ts";
import { CA_FILE, installWords, type ScriptLanguage, SECRET_FILE } from "../install-words.ts";
import type { CpioFile } from "./cpio.ts";

export const PKG_ID = "com.svc.agent";
export const COMPONENT = "svc-agent.pkg";

const shell: ScriptLanguage = { quote: quotedShellWord, beside: (name) => `"$here/${name}"` };

/** Node from nodejs.org is there; the agent needs 20.19. */
const withNode = (node: string) => `node=${quotedShellWord(node)}
[ -x "$node" ] || fail "Node.js 20.19 or newer is needed, and $node is missing. Install it (https://nodejs.org)."
"$node" -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
  fail "Node.js 20.19 or newer is needed; $node is older"
place="$root${AGENT_PATH}"
mkdir -p "$(dirname "$place")"
cp "$here/agent.mjs" "$place.new"
chmod 755 "$place.new"
mv -f "$place.new" "$place"
set -- "$node" "$place" "$@"
`;

/** The third argument is the disk on which the package is installed; another one than / gets files, and starts nothing. */
function postinstall(setup: PackageSetup): string {
  const { program } = setup;
  return `#!/bin/sh
set -eu
fail() {
  printf 'svc-agent: %s\\n' "$1" >&2
  exit 1
}
here=$(cd "$(dirname "$0")" && pwd)
root=\${3:-/}
root=\${root%/}
set -- ${installWords(setup, shell)}
[ -z "$root" ] || set -- "$@" "--root=$root"
${"executable" in program ? 'set -- "$here/svc-agent" "$@"\n' : withNode(program.node)}"$@"
`;
}

/** The files beside each other; `postinstall` is what the system runs. */
export function pkgScripts(setup: PackageSetup): readonly CpioFile[] {
  const { program, enrollSecret, ca } = setup;
  const file = (name: string, content: string | Uint8Array, mode: number): CpioFile => ({
    name,
    content: typeof content === "string" ? Buffer.from(content) : content,
    mode,
  });
  return [
    "executable" in program ? file("svc-agent", program.executable, 0o700) : file("agent.mjs", program.agent, 0o600),
    ...(ca === null ? [] : [file(CA_FILE, ca, 0o600)]),
    file("postinstall", postinstall(setup), 0o755),
    file(SECRET_FILE, `${enrollSecret}\n`, 0o600),
  ];
}

/** The description of the only component. It has no payload. */
export const packageInfo = (version: string): string => `<?xml version="1.0" encoding="utf-8"?>
<pkg-info format-version="2" identifier="${PKG_ID}" version="${version}" install-location="/" auth="root" overwrite-permissions="true" relocatable="false" postinstall-action="none">
  <payload numberOfFiles="0" installKBytes="0"/>
  <scripts>
    <postinstall file="./postinstall"/>
  </scripts>
</pkg-info>
`;

/** Architectures of macOS by their names of Node. */
const hostArchitectures: Readonly<Record<string, string>> = { x64: "x86_64", arm64: "arm64" };

/** The description that makes it a product archive, as device management needs it. `component`: the URL of the component. */
export function distribution({ version, program }: PackageSetup, component: string): string {
  const arch = "executable" in program ? hostArchitectures[program.arch] : undefined;
  return `<?xml version="1.0" encoding="utf-8"?>
<installer-gui-script minSpecVersion="1">
  <title>svc-agent</title>
  <product id="${PKG_ID}" version="${version}"/>
  <options customize="never" require-scripts="false" hostArchitectures="${arch ?? "x86_64,arm64"}"/>
  <domains enable_anywhere="false" enable_currentUserHome="false" enable_localSystem="true"/>
  <choices-outline>
    <line choice="default">
      <line choice="${PKG_ID}"/>
    </line>
  </choices-outline>
  <choice id="default"/>
  <choice id="${PKG_ID}" visible="false">
    <pkg-ref id="${PKG_ID}"/>
  </choice>
  <pkg-ref id="${PKG_ID}" version="${version}" installKBytes="0" auth="root" onConclusion="none">${component}</pkg-ref>
</installer-gui-script>
`;
}
