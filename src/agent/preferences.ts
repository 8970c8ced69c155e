// What device management configures for the agent on a Mac: managed preferences, which a profile has set.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface Preferences {
  readonly serverUrl?: string;
  readonly enrollSecret?: string;
}

const FILE = "/Library/Managed Preferences/com.svc.agent.plist";
const run = promisify(execFile);

/** Nothing on other systems, or without such a profile. */
export async function managedPreferences(platform: NodeJS.Platform = process.platform): Promise<Preferences> {
  if (platform !== "darwin") return {};
  try {
    // The file may be in the binary format.
    const { stdout } = await run("/usr/bin/plutil", ["-convert", "json", "-o", "-", FILE], { timeout: 10_000 });
    return preferencesIn(stdout);
  } catch {
    return {};
  }
}

/** Values of another type are left out. */
export function preferencesIn(json: string): Preferences {
  const policy = JSON.parse(json) as Record<string, unknown> | null;
  const { ServerURL: serverUrl, EnrollSecret: enrollSecret } = policy ?? {};
  return {
    ...(typeof serverUrl === "string" ? { serverUrl } : {}),
    ...(typeof enrollSecret === "string" ? { enrollSecret } : {}),
  };
}
