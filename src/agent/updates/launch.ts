// Chooses the version that runs. The agent that was installed stays as it is: when it starts, it hands over to the
// newest version that it has fetched, in the same process, and goes back if that one fails.
import { rm } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { isNewer } from "../../agent-wire/update.ts";
import { importFile } from "../built-in.ts";
import type { Log } from "../options.ts";
import { UpdateFolder, type UpdateState, type Version } from "./folder.ts";

const STARTS_MAX = 3;
/** Time in which a new version has to check in. */
const TRIAL_MS = 10 * 60_000;

/** Tells a version that another one has started it, and which it is. */
const STARTED = Symbol.for("svc-agent.started-version");
const shared = globalThis as { [STARTED]?: string };

/** The SHA-256 of this version if it was fetched; null: it is the one that was installed. */
export const startedVersion = (): string | null => shared[STARTED] ?? null;

interface Launch {
  readonly stateDir: string;
  /** The version of the agent that was installed. */
  readonly installed: string;
  readonly scale: number;
  readonly log: Log;
}

/** The file to run, after its start was recorded; null: none is newer than the installed one. */
export async function chooseVersion({ stateDir, installed, log }: Omit<Launch, "scale">) {
  const folder = new UpdateFolder(stateDir);
  let state = await folder.read();
  if (state.trial !== null) {
    const { starts, ...trial } = state.trial;
    const reason = await reasonAgainst(folder, state.trial);
    if (!isNewer(trial.version, installed)) state = { ...state, trial: null };
    else if (reason === null) {
      const next = { ...state, trial: { ...trial, starts: starts + 1 } };
      // What cannot be counted, such as on a full disk, is not tried: it could fail for ever.
      const isCounted = await folder.write(next).then(
        () => true,
        () => false,
      );
      if (isCounted) return { ...trial, file: folder.fileOf(trial), isTrial: true };
    } else {
      log("error", `update to ${trial.version} ${reason}: going back`);
      state = { ...state, trial: null, failed: { ...trial, reason, at: Date.now() } };
      await folder.write(state);
      await rm(folder.overdueFile, { force: true });
    }
  }
  const chosen = await newestWhole(folder, state, installed);
  return chosen && { ...chosen, file: folder.fileOf(chosen), isTrial: false };
}

async function reasonAgainst(folder: UpdateFolder, trial: NonNullable<UpdateState["trial"]>): Promise<string | null> {
  if ((await folder.overdue()) === trial.sha256) return "did not check in";
  if (trial.starts >= STARTS_MAX) return `ended ${trial.starts} times before it had checked in`;
  return (await folder.isWhole(trial)) ? null : "is damaged";
}

async function newestWhole(folder: UpdateFolder, state: UpdateState, installed: string): Promise<Version | null> {
  for (const version of [state.current, state.previous])
    if (version !== null && isNewer(version.version, installed) && (await folder.isWhole(version))) return version;
  return null;
}

/** Runs a newer version to its end. False: there is none. */
export async function launchNewest(launch: Launch): Promise<boolean> {
  const chosen = await chooseVersion(launch);
  if (chosen === null) return false;
  shared[STARTED] = chosen.sha256;
  if (chosen.isTrial) guard(new UpdateFolder(launch.stateDir), chosen.sha256, TRIAL_MS * launch.scale);
  await importFile(pathToFileURL(chosen.file).href);
  return true;
}

/** Ends a version that has not checked in after so long. In a thread of its own: the version may block this one. */
function guard(folder: UpdateFolder, sha256: string, ms: number): void {
  const program = `
const { readFileSync, writeFileSync } = require("node:fs");
const { stateFile, overdueFile, sha256, ms } = require("node:worker_threads").workerData;
setTimeout(() => {
  let trial;
  try { trial = JSON.parse(readFileSync(stateFile, "utf8")).trial; } catch {}
  if (trial?.sha256 !== sha256) return;
  try { writeFileSync(overdueFile, sha256, { mode: 0o600 }); } finally { process.kill(process.pid, "SIGKILL"); }
}, ms);`;
  const { stateFile, overdueFile } = folder;
  new Worker(program, { eval: true, workerData: { stateFile, overdueFile, sha256, ms } }).unref();
}
