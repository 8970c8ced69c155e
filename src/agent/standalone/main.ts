// The agent as one file, for machines without svc: what `svc agent` does on the machine itself.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { isNewer } from "../../agent-wire/update.ts";
import { builtInSetup, importFile, isExecutable } from "../built-in.ts";
import { serveAgent } from "../isolated/child.ts";
import { copyProgram, install, installedStateDir, show, uninstall } from "../service/apply.ts";
import { installedPlatform, platformToInstall } from "../service/detect.ts";
import {
  executablePath,
  logCommand,
  programFolder,
  removalPlan,
  type ServicePlatform,
  servicePlan,
  statusCommand,
} from "../service/plan.ts";
import { agentStatus } from "../service/status.ts";
import { type AgentSetup, readSetup, SetupError } from "../setup.ts";
import { startAgent } from "../start.ts";
import { UpdateFolder } from "../updates/folder.ts";

/** Replaced by scripts/bundle-agent.mjs. */
const VERSION = process.env.SVC_AGENT_VERSION ?? "0.0.0";

const NAME = isExecutable() ? "svc-agent" : "node agent.mjs";

const HELP = `svc-agent ${VERSION}: manages this machine

  ${NAME} install --server-url URL --enroll-secret-file FILE [--root DIR]   as a service of this machine
  ${NAME} run --server-url URL --enroll-secret-file FILE                    until interrupted
  ${NAME} status                                   whether it is installed, runs, and has enrolled
  ${NAME} logs [--follow] [--lines N]
  ${NAME} uninstall [--purge]                      --purge: also its program, keys, journals and log

  install and run: [--ca-file FILE] [--pin SHA256]... [--state-dir DIR] [--no-scripts]
                   [--sign-requests [--identity-key rsa|p256|p384]]
  run: [--no-updates] [--no-osqueryd] [--osqueryd-path FILE] [--hardware-uuid UUID] [--hardware-serial SERIAL]
`;

const options = {
  "server-url": { type: "string" },
  "enroll-secret-file": { type: "string" },
  "ca-file": { type: "string" },
  pin: { type: "string", multiple: true },
  "state-dir": { type: "string" },
  "no-scripts": { type: "boolean", default: false },
  "sign-requests": { type: "boolean", default: false },
  "identity-key": { type: "string" },
  "no-osqueryd": { type: "boolean", default: false },
  "no-updates": { type: "boolean", default: false },
  "osqueryd-path": { type: "string" },
  "hardware-uuid": { type: "string" },
  "hardware-serial": { type: "string" },
  module: { type: "string" },
  root: { type: "string" },
  restart: { type: "boolean", default: false },
  purge: { type: "boolean", default: false },
  follow: { type: "boolean", short: "f", default: false },
  lines: { type: "string", short: "n", default: "100" },
  help: { type: "boolean", short: "h", default: false },
  version: { type: "boolean", default: false },
} as const;

type Values = ReturnType<typeof parse>["values"];
const parse = (args: readonly string[]) => parseArgs({ args: [...args], options, allowPositionals: true });

const note = (line: string) => process.stderr.write(`${line}\n`);

/** Where this file is once the machine runs: an image is below another folder now. An executable is copied. */
async function programIn(root: string | null, platform: ServicePlatform): Promise<string[]> {
  if (isExecutable()) {
    const place = executablePath(platform);
    await copyProgram(process.execPath, place, root);
    return [place];
  }
  const path = resolve(process.argv[1]!);
  const start = root === null ? null : resolve(root);
  const program = start !== null && start !== "/" && path.startsWith(`${start}/`) ? path.slice(start.length) : path;
  return [process.execPath, program];
}

/** An executable may contain what the flags would name. Flags for another server replace all of it. */
async function setupOf(values: Values): Promise<AgentSetup> {
  const builtIn = values["server-url"] || process.env.SVC_SERVER_URL ? null : builtInSetup();
  if (builtIn === null) return readSetup({ ...values, scripts: !values["no-scripts"] }, process.env);
  const stateDir = values["state-dir"];
  return {
    ...builtIn,
    ...(stateDir === undefined ? {} : { stateDir: resolve(stateDir) }),
    runsScripts: builtIn.runsScripts && !values["no-scripts"],
    signsRequests: builtIn.signsRequests || values["sign-requests"],
  };
}

/**
 * Starts this version once more, as the process for queries. An executable that has started a newer version starts that
 * one again.
 */
function secondProgram(): readonly [string, ...string[]] {
  if (!isExecutable()) return [process.execPath, __filename, "queries"];
  const isOther = __filename !== process.execPath;
  return [process.execPath, "queries", ...(isOther ? ["--module", __filename] : [])];
}

const commands: Record<string, (values: Values) => Promise<number>> = {
  async run(values) {
    const setup = await setupOf(values);
    const flags = { ...values, osqueryd: !values["no-osqueryd"], updates: !values["no-updates"] };
    await startAgent(setup, flags, { version: VERSION, env: process.env, note, secondProgram: secondProgram() });
    // A version that this one has started sets it too.
    return Number(process.exitCode ?? 0);
  },
  /** Only `secondProgram` names it. */
  async queries({ module }) {
    if (module !== undefined && module !== __filename) await importFile(pathToFileURL(module).href);
    else serveAgent();
    return 0;
  },
  async install(values) {
    const setup = await setupOf(values);
    const root = values.root ?? null;
    const platform = await platformToInstall(root, `${NAME} run`);
    const program = await programIn(root, platform);
    const plan = servicePlan({ ...setup, platform, program });
    const where = { root, isDryRun: false, restarts: values.restart };
    const { changes, commands: ran } = await install(plan, statusCommand(platform), where);
    for (const { path, outcome } of changes) note(`${path}: ${outcome}`);
    for (const command of ran) note(`ran: ${command.join(" ")}`);
    return 0;
  },
  async uninstall(values) {
    const root = values.root ?? null;
    const platform = await installedPlatform(root);
    const stateDir = values.purge ? (values["state-dir"] ?? (await installedStateDir(platform, root))) : null;
    const plan = removalPlan(platform, stateDir);
    // The configuration may contain the secret. Windows does not remove a program that runs.
    const paths = !isExecutable()
      ? plan.paths
      : platform === "win32"
        ? plan.paths.filter((path) => path !== programFolder(platform))
        : [executablePath(platform), ...plan.paths];
    for (const { path, outcome } of await uninstall({ ...plan, paths }, { root, isDryRun: false }))
      note(`${path}: ${outcome}`);
    return 0;
  },
  async status(values) {
    const platform = await installedPlatform(null);
    const stateDir = values["state-dir"] ?? (await installedStateDir(platform, null));
    const { current, trial, failed } = await new UpdateFolder(stateDir).read();
    const agent = await agentStatus(platform, stateDir);
    const status = {
      version: current !== null && isNewer(current.version, VERSION) ? current.version : VERSION,
      update: { installed_version: VERSION, trial: trial?.version ?? null, failed: failed?.version ?? null },
      ...agent,
    };
    process.stdout.write(`${JSON.stringify(status, null, 2)}\n`);
    return agent.running ? 0 : 1;
  },
  async logs({ lines, follow }) {
    if (!/^[1-9]\d{0,6}$/.test(lines)) throw new SetupError("usage", "--lines: give a number of lines");
    return show(logCommand(await installedPlatform(null), { lines: Number(lines), follow }));
  },
};

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args);
  if (values.version) {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  const [name, ...more] = positionals;
  if (values.help || name === undefined) {
    process.stdout.write(HELP);
    return values.help ? 0 : 2;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined || more.length > 0)
    throw new SetupError("usage", `unknown command: ${positionals.join(" ")}`, `\`${NAME} --help\` lists them.`);
  return command(values);
}

function fail(error: unknown): number {
  const { message, code } = error as NodeJS.ErrnoException;
  note(`error: ${message}`);
  if (error instanceof SetupError && error.hint !== undefined) note(error.hint);
  if (code === "EACCES" || code === "EPERM") note("Run it as root, or as an administrator on Windows.");
  const isUsage = (error instanceof SetupError && error.kind === "usage") || code?.startsWith("ERR_PARSE_ARGS");
  return isUsage ? 2 : 1;
}

// No top-level await: an executable runs this as a CommonJS program.
main(process.argv.slice(2))
  .catch(fail)
  .then((code) => {
    process.exitCode = code;
  });
