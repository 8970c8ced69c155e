// Which scripts were started, and their results until the server has them. A script is in the journal before it is
// started, so that it never runs twice.
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { readObject, replaceFile } from "../state/files.ts";

export interface ScriptResult {
  readonly output: string;
  /** Seconds. */
  readonly runtime: number;
  readonly exit_code: number;
  /** Seconds. */
  readonly timeout: number;
}

export type Entry =
  | { readonly state: "started" }
  | { readonly state: "finished"; readonly result: ScriptResult }
  /** The server has the result. Kept for a while, because an older reply of the server may still name the script. */
  | { readonly state: "delivered" };

const KEPT_MS = 7 * 86_400_000;
const ENTRY = /^([\w-]{1,200})\.json$/;

export class Journal {
  readonly #folder: string;

  constructor(stateDir: string) {
    this.#folder = join(stateDir, "scripts");
  }

  /** Whether an id can be the name of a file. */
  static accepts(id: string): boolean {
    return ENTRY.test(`${id}.json`);
  }

  async read(id: string): Promise<Entry | null> {
    const stored = await readObject(this.#path(id));
    if (stored === null) return null;
    if (stored.state === "finished") return { state: "finished", result: stored.result as ScriptResult };
    return { state: stored.state === "delivered" ? "delivered" : "started" };
  }

  write(id: string, entry: Entry): Promise<void> {
    return replaceFile(this.#path(id), JSON.stringify(entry));
  }

  /** The scripts whose results the server may not have. */
  async unfinished(): Promise<string[]> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const ids = (await readdir(this.#folder)).flatMap((name) => ENTRY.exec(name)?.[1] ?? []);
    const entries = await Promise.all(ids.map(async (id) => ({ id, entry: await this.read(id) })));
    return entries.filter(({ entry }) => entry !== null && entry.state !== "delivered").map(({ id }) => id);
  }

  /** Removes entries of the past, and drafts that a crash left. */
  async prune(now: number): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const path = join(this.#folder, name);
      const id = ENTRY.exec(name)?.[1];
      if (id !== undefined && (await this.read(id))?.state !== "delivered") continue;
      const found = await stat(path).catch(() => null);
      if (found !== null && (id === undefined || now - found.mtimeMs > KEPT_MS))
        await rm(path, { recursive: true, force: true });
    }
  }

  /** The folder of a script's own files while it runs. */
  filesOf(id: string): string {
    return join(this.#folder, `${id}.files`);
  }

  #path(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}
