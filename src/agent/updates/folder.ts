// The versions of the agent that it has fetched, and which of them runs. Each step is one replaced file, so that a crash
// leaves the state before it or after it.
import { createHash } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { readObject, replaceFile } from "../state/files.ts";

export interface Version {
  readonly version: string;
  readonly sha256: string;
}

export interface UpdateState {
  /** Has checked in. */
  readonly current: Version | null;
  /** The one before, which runs if the file of the current one is damaged. */
  readonly previous: Version | null;
  /** Has not checked in yet. `starts`: how often it was started. */
  readonly trial: (Version & { readonly starts: number }) | null;
  /** Did not check in. */
  readonly failed: (Version & { readonly reason: string; readonly at: number }) | null;
}

const NONE: UpdateState = { current: null, previous: null, trial: null, failed: null };
const FILE = /^agent-[0-9a-f]{64}\.mjs$/;

function versionOf(value: unknown): Version | null {
  if (typeof value !== "object" || value === null) return null;
  const { version, sha256 } = value as Record<string, unknown>;
  const isWhole = typeof version === "string" && typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256);
  return isWhole ? { version, sha256 } : null;
}

export const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export class UpdateFolder {
  readonly path: string;

  constructor(stateDir: string) {
    this.path = join(stateDir, "updates");
  }

  get stateFile(): string {
    return join(this.path, "state.json");
  }

  /** Written by the guard of a trial that took too long; has the trial's SHA-256. */
  get overdueFile(): string {
    return join(this.path, "overdue");
  }

  fileOf({ sha256 }: Version): string {
    return join(this.path, `agent-${sha256}.mjs`);
  }

  /** A damaged file counts as none: the agent that was installed runs, and fetches updates again. */
  async read(): Promise<UpdateState> {
    const stored = await readObject(this.stateFile);
    if (stored === null) return NONE;
    const [trial, failed] = [versionOf(stored.trial), versionOf(stored.failed)];
    return {
      current: versionOf(stored.current),
      previous: versionOf(stored.previous),
      trial: trial && { ...trial, starts: Number((stored.trial as { starts?: unknown }).starts) || 0 },
      failed: failed && {
        ...failed,
        reason: String((stored.failed as { reason?: unknown }).reason),
        at: Number((stored.failed as { at?: unknown }).at) || 0,
      },
    };
  }

  write(state: UpdateState): Promise<void> {
    return replaceFile(this.stateFile, `${JSON.stringify(state, null, 2)}\n`);
  }

  keep(version: Version, bytes: Uint8Array): Promise<void> {
    return replaceFile(this.fileOf(version), bytes);
  }

  async isWhole(version: Version): Promise<boolean> {
    const bytes = await readFile(this.fileOf(version)).catch(() => null);
    return bytes !== null && sha256Of(bytes) === version.sha256;
  }

  /** Removes what no state names, such as downloads that a crash left. */
  async prune({ current, previous, trial }: UpdateState): Promise<void> {
    const named = new Set(
      [current, previous, trial].flatMap((version) => (version === null ? [] : [this.fileOf(version)])),
    );
    for (const name of await readdir(this.path).catch(() => [])) {
      const path = join(this.path, name);
      if ((FILE.test(name) && !named.has(path)) || name.endsWith(".tmp")) await rm(path, { force: true });
    }
  }

  async overdue(): Promise<string | null> {
    return (await readFile(this.overdueFile, "utf8").catch(() => null))?.trim() ?? null;
  }
}
