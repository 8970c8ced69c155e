// What makes the agent start with the machine: files, and commands of the system's own service manager.

import { posix, win32 } from "node:path";
import type { IdentityKey } from "../options.ts";
import { OPENRC_LOG, OPENRC_SCRIPT, openrcScript } from "./openrc.ts";
import type { ServiceFile, ServicePlan } from "./service-plan.ts";
import { launcherIn, logOnWindows, statusOnWindows, windowsService } from "./windows.ts";

/** A system with its service manager; `linux` has systemd. */
export type ServicePlatform = "linux" | "linux-openrc" | "darwin" | "win32";

export interface ServiceSetup {
  readonly platform: ServicePlatform;
  /** The agent's program, to which `run` and its flags are added. */
  readonly program: readonly string[];
  readonly serverUrl: string;
  readonly enrollSecret: string;
  readonly ca: string | null;
  readonly pins: readonly string[];
  readonly stateDir: string;
  readonly runsScripts: boolean;
  readonly signsRequests?: boolean;
  readonly identityKey?: IdentityKey;
}

export interface RemovalPlan {
  readonly stop: readonly (readonly string[])[];
  readonly paths: readonly string[];
  /** Run after the files were removed. */
  readonly after: readonly (readonly string[])[];
}

const NAME = "svc-agent";
const LABEL = "com.svc.agent";
const UNIT = `/etc/systemd/system/${NAME}.service`;
const DAEMON = `/Library/LaunchDaemons/${LABEL}.plist`;
const MAC_LOG = `/var/log/${NAME}.log`;

const programData = () => process.env.ProgramData ?? "C:\\ProgramData";

/** The folder of the agent's configuration. */
export const configFolder = (platform: ServicePlatform): string =>
  platform === "win32" ? win32.join(programData(), NAME, "config") : `/etc/${NAME}`;

export const defaultStateDir = (platform: NodeJS.Platform = process.platform): string =>
  platform === "win32" ? win32.join(programData(), NAME) : `/var/lib/${NAME}`;

/** The folder of the agent's program. */
export const programFolder = (platform: ServicePlatform): string =>
  platform === "win32" ? win32.join(process.env.ProgramFiles ?? "C:\\Program Files", NAME) : `/opt/${NAME}`;

/** Where the agent as one executable is installed. */
export const EXECUTABLE_PATH = `/opt/${NAME}/${NAME}`;

export const executablePath = (platform: ServicePlatform): string =>
  platform === "win32" ? win32.join(programFolder(platform), `${NAME}.exe`) : EXECUTABLE_PATH;

/** systemd expands `%` and `$`, and splits words at spaces. A line break would begin another setting. */
function unitWord(word: string): string {
  if (/\p{Cc}/u.test(word)) throw new Error(`${JSON.stringify(word)} cannot be written into a unit`);
  return `"${word.replace(/[\\"]/g, "\\$&").replaceAll("%", "%%").replaceAll("$", "$$$$")}"`;
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const unitOf = (argv: readonly string[]) => `[Unit]
Description=Agent of svc: inventory, queries and scripts of this machine
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=${argv.map(unitWord).join(" ")}
Restart=always
RestartSec=5

[Install]
WantedBy=multi-user.target
`;

const daemonOf = (argv: readonly string[]) => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${argv.map((word) => `    <string>${escaped(word)}</string>`).join("\n")}
  </array>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><true/>
  <key>StandardErrorPath</key><string>${MAC_LOG}</string>
</dict>
</plist>
`;

export function servicePlan(setup: ServiceSetup): ServicePlan {
  const { platform, program, serverUrl, enrollSecret, ca, pins, stateDir, runsScripts } = setup;
  const { signsRequests = false, identityKey = "rsa" } = setup;
  const folder = configFolder(platform);
  const inFolder = (name: string) => (platform === "win32" ? win32 : posix).join(folder, name);
  const [secretFile, caFile] = [inFolder("secret"), inFolder("ca.pem")];
  const argv = [
    ...program,
    "run",
    "--server-url",
    serverUrl,
    "--enroll-secret-file",
    secretFile,
    ...(ca === null ? [] : ["--ca-file", caFile]),
    ...pins.flatMap((pin) => ["--pin", pin]),
    "--state-dir",
    stateDir,
    ...(runsScripts ? [] : ["--no-scripts"]),
    ...(signsRequests ? ["--sign-requests"] : []),
    ...(signsRequests && identityKey !== "rsa" ? ["--identity-key", identityKey] : []),
  ];
  const files: ServiceFile[] = [
    { path: secretFile, content: `${enrollSecret}\n`, mode: 0o600 },
    ...(ca === null ? [] : [{ path: caFile, content: ca, mode: 0o644 }]),
  ];
  if (platform === "linux")
    return {
      files: [...files, { path: UNIT, content: unitOf(argv), mode: 0o644 }],
      start: [
        ["systemctl", "daemon-reload"],
        ["systemctl", "enable", NAME],
        ["systemctl", "restart", NAME],
      ],
    };
  if (platform === "linux-openrc")
    return {
      files: [...files, openrcScript(argv)],
      start: [
        ["rc-update", "add", NAME, "default"],
        ["rc-service", NAME, "restart"],
      ],
    };
  if (platform === "darwin")
    return {
      files: [...files, { path: DAEMON, content: daemonOf(argv), mode: 0o644 }],
      start: [
        ["launchctl", "enable", `system/${LABEL}`],
        ["launchctl", "bootstrap", "system", DAEMON],
        ["launchctl", "kickstart", "-k", `system/${LABEL}`],
      ],
    };
  return windowsService({ folder: win32.join(programData(), NAME), config: folder, argv, files });
}

/** `stateDir`: nothing of the agent stays, also not its program, its keys, its journal and its log. */
export function removalPlan(platform: ServicePlatform, stateDir: string | null): RemovalPlan {
  const log = platform === "darwin" ? [MAC_LOG] : platform === "linux-openrc" ? [OPENRC_LOG] : [];
  const everything = stateDir === null ? [] : [stateDir, programFolder(platform), ...log];
  const paths = [configFolder(platform), ...everything];
  if (platform === "linux")
    return {
      stop: [["systemctl", "disable", "--now", NAME]],
      paths: [UNIT, ...paths],
      after: [
        ["systemctl", "daemon-reload"],
        ["systemctl", "reset-failed", NAME],
      ],
    };
  if (platform === "linux-openrc")
    return {
      stop: [
        ["rc-service", NAME, "stop"],
        ["rc-update", "delete", NAME, "default"],
      ],
      paths: [OPENRC_SCRIPT, ...paths],
      after: [],
    };
  if (platform === "darwin")
    return { stop: [["launchctl", "bootout", `system/${LABEL}`]], paths: [DAEMON, ...paths], after: [] };
  return {
    stop: [
      ["schtasks", "/End", "/TN", NAME],
      ["schtasks", "/Delete", "/TN", NAME, "/F"],
    ],
    paths,
    after: [],
  };
}

/** The file by which the service manager knows the agent. */
export const unitFile = (platform: ServicePlatform): string =>
  ({ linux: UNIT, "linux-openrc": OPENRC_SCRIPT, darwin: DAEMON, win32: launcherIn(configFolder("win32")) })[platform];

/** Words behind `--state-dir` in a unit of systemd, in a script of OpenRC, in a property list, and in a batch file. */
const STATE_DIR = /--state-dir(?:["']|<\/string>)\s*(?:["']|<string>)(.*?)(?:["']|<\/string>)/;

/** The state folder of the service that is installed, from the content of `unitFile`; null: it names none. */
export function stateDirIn(platform: ServicePlatform, content: string): string | null {
  // The words of OpenRC's script are quoted twice.
  const text = platform === "linux-openrc" ? content.replaceAll("'\\''", "'") : content;
  const word = STATE_DIR.exec(text)?.[1];
  if (word === undefined) return null;
  if (platform === "darwin") return word.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  if (platform === "linux-openrc") return word;
  const plain = word.replaceAll("%%", "%");
  return platform === "win32" ? plain : plain.replaceAll("$$", "$").replace(/\\(.)/g, "$1");
}

/** A command whose exit code is 0 if the agent runs. */
export const statusCommand = (platform: ServicePlatform): readonly string[] =>
  ({
    linux: ["systemctl", "is-active", NAME],
    "linux-openrc": ["rc-service", NAME, "status"],
    darwin: ["launchctl", "print", `system/${LABEL}`],
    win32: statusOnWindows,
  })[platform];

export function logCommand(
  platform: ServicePlatform,
  { lines, follow }: { lines: number; follow: boolean },
): readonly string[] {
  if (platform === "linux")
    return ["journalctl", "--unit", NAME, "--lines", String(lines), "--no-pager", ...(follow ? ["--follow"] : [])];
  if (platform !== "win32") {
    const log = platform === "darwin" ? MAC_LOG : OPENRC_LOG;
    return ["tail", "-n", String(lines), ...(follow ? ["-f"] : []), log];
  }
  return logOnWindows(win32.join(programData(), NAME), { lines, follow });
}
