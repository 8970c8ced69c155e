// Finds the service manager of a machine.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { SetupError } from "../setup.ts";
import { OPENRC_SCRIPT } from "./openrc.ts";
import { type ServicePlatform, unitFile } from "./plan.ts";

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function isAnyThere(root: string, paths: readonly string[]): Promise<boolean> {
  for (const path of paths) if (await exists(join(root, path))) return true;
  return false;
}

function systemOf(platform: NodeJS.Platform): "linux" | "darwin" | "win32" {
  if (platform === "linux" || platform === "darwin" || platform === "win32") return platform;
  throw new SetupError("failed", `the agent knows no service manager for ${platform}`);
}

/** systemd and OpenRC have these while they run. */
const RUNS_SYSTEMD = ["/run/systemd/system"];
const RUNS_OPENRC = ["/run/openrc/softlevel"];
const HAS_OPENRC = ["/sbin/openrc-run", "/usr/sbin/openrc-run"];
const HAS_SYSTEMD = ["/lib/systemd/systemd", "/usr/lib/systemd/systemd"];

/**
 * For an installation on this machine, or below `root` in the file system of an image. `run`: the command that runs the
 * agent without a service.
 */
export async function platformToInstall(root: string | null, run: string): Promise<ServicePlatform> {
  const system = systemOf(process.platform);
  if (system !== "linux") return system;
  if (root !== null)
    return (await isAnyThere(root, HAS_OPENRC)) && !(await isAnyThere(root, HAS_SYSTEMD)) ? "linux-openrc" : "linux";
  if (await isAnyThere("/", RUNS_SYSTEMD)) return "linux";
  if (await isAnyThere("/", RUNS_OPENRC)) return "linux-openrc";
  throw new SetupError(
    "failed",
    "The agent cannot be installed as a service: neither systemd nor OpenRC runs on this machine, which may be a container. Nothing was written.",
    `Run the agent itself instead: ${run} --server-url URL --enroll-secret-file FILE`,
  );
}

/** Where the agent is installed; the usual service manager of the system if it is not. */
export async function installedPlatform(root: string | null): Promise<ServicePlatform> {
  const system = systemOf(process.platform);
  const start = root ?? "/";
  if (system !== "linux" || (await exists(join(start, unitFile("linux"))))) return system;
  const isOpenrc = await isAnyThere(start, [OPENRC_SCRIPT, ...(root === null ? RUNS_OPENRC : [])]);
  return isOpenrc ? "linux-openrc" : "linux";
}
