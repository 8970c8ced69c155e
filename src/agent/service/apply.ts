import { execFile, spawn } from "node:child_process";
import { chmod, copyFile, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { defaultStateDir, type RemovalPlan, type ServicePlatform, stateDirIn, unitFile } from "./plan.ts";
import type { ServiceFile, ServicePlan } from "./service-plan.ts";

type ChangeOutcome = "created" | "changed" | "unchanged" | "removed" | "absent";
interface Change {
  readonly path: string;
  readonly outcome: ChangeOutcome;
}

interface Where {
  /** Files are written below this folder, and no command is run: for images and tests. */
  readonly root: string | null;
  /** Nothing is written or run. */
  readonly isDryRun: boolean;
  /** Restarts even if nothing has changed: the program itself is new. */
  readonly restarts?: boolean;
}

/** A command of the system that failed. */
class CommandFailed extends Error {}

const placed = (path: string, { root }: Pick<Where, "root">) =>
  root === null ? path : join(root, path.replace(/^[A-Za-z]:/, ""));

const run = ([file, ...args]: readonly string[]) =>
  new Promise<{ code: number; text: string }>((resolve) => {
    execFile(file!, args, { windowsHide: true }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      resolve({ code, text: `${stderr || stdout || (error?.message ?? "")}`.trim() });
    });
  });

async function writeOne({ path, content, mode }: ServiceFile, where: Where): Promise<Change> {
  const target = placed(path, where);
  const before = await readFile(target, "utf8").catch(() => null);
  const hasMode = process.platform === "win32" || ((await stat(target).catch(() => null))?.mode ?? 0) % 0o1000 === mode;
  if (before === content && hasMode) return { path: target, outcome: "unchanged" };
  if (!where.isDryRun) {
    await mkdir(dirname(target), { recursive: true });
    // The mode is set before the content: nobody else may read the secret meanwhile.
    await writeFile(target, "", { mode });
    await chmod(target, mode);
    await writeFile(target, content);
  }
  return { path: target, outcome: before === null ? "created" : "changed" };
}

/** Copies a program to its place, also over one that runs. Only its owner can read it. */
export async function copyProgram(from: string, path: string, root: string | null): Promise<void> {
  const target = placed(path, { root });
  if (resolve(from) === resolve(target)) return;
  await mkdir(dirname(target), { recursive: true });
  const draft = `${target}.${process.pid}.tmp`;
  try {
    await copyFile(from, draft);
    await chmod(draft, 0o700);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function succeed(command: readonly string[]): Promise<void> {
  const { code, text } = await run(command);
  // launchd refuses to load what is loaded; the next command restarts it.
  if (code !== 0 && command[1] !== "bootstrap") throw new CommandFailed(`${command.join(" ")} failed: ${text}`);
}

const isRunning = async (status: readonly string[]) => (await run(status)).code === 0;

/** Starts or restarts the service only if something has changed, or if it does not run. */
export async function install(
  plan: ServicePlan,
  status: readonly string[],
  where: Where,
): Promise<{ changes: readonly Change[]; commands: readonly (readonly string[])[] }> {
  const changes: Change[] = [];
  const commands = [...(plan.closed?.commands ?? []), ...plan.start];
  if (plan.closed && where.root === null && !where.isDryRun) {
    await mkdir(plan.closed.folder, { recursive: true });
    for (const command of plan.closed.commands) await succeed(command);
  }
  for (const file of plan.files) changes.push(await writeOne(file, where));
  const isSame = changes.every(({ outcome }) => outcome === "unchanged");
  if (where.root !== null) return { changes, commands: [] };
  if (isSame && !where.restarts && (await isRunning(status))) return { changes, commands: [] };
  if (!where.isDryRun) for (const command of plan.start) await succeed(command);
  return { changes, commands };
}

/** The state folder of the service that is installed. */
export async function installedStateDir(platform: ServicePlatform, root: string | null): Promise<string> {
  const content = await readFile(placed(unitFile(platform), { root }), "utf8").catch(() => "");
  return stateDirIn(platform, content) ?? defaultStateDir();
}

/** What is not there is no error. */
export async function uninstall(plan: RemovalPlan, where: Where): Promise<readonly Change[]> {
  const hasCommands = where.root === null && !where.isDryRun;
  if (hasCommands) for (const command of plan.stop) await run(command);
  const changes: Change[] = [];
  for (const path of plan.paths) {
    const target = placed(path, where);
    const exists = (await stat(target).catch(() => null)) !== null;
    // On Windows, files are in use until the processes of the task have ended.
    if (exists && !where.isDryRun) await rm(target, { recursive: true, maxRetries: 10 });
    changes.push({ path: target, outcome: exists ? "removed" : "absent" });
  }
  if (hasCommands) for (const command of plan.after) await run(command);
  return changes;
}

/** Runs a command with this process's output; resolves with its exit code, and with 0 after an interrupt. */
export const show = ([file, ...args]: readonly string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(file!, args, { stdio: "inherit" });
    const interrupt = () => child.kill("SIGTERM");
    process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
    child.once("error", (error) => reject(new CommandFailed(`${file} cannot be started: ${error.message}`)));
    child.once("exit", (code, signal) => resolve(signal === null ? (code ?? 1) : 0));
  });

export const isActive = isRunning;
