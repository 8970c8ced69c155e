// What was started on this machine, and the results until the server has them. Whatever must never run twice is in the
// journal before it is started.
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { readObject, replaceFile } from "./files.ts";

type Entry<R> =
  /** `soFar`: what is known of the result, where there are several steps. */
  | { readonly state: "started"; readonly soFar?: R }
  | { readonly state: "finished"; readonly result: R }
  /** The server has the result. Kept for a while, because an older reply of the server may still name it. */
  | { readonly state: "delivered" };

const KEPT_MS = 7 * 86_400_000;
const ENTRY = /^([\w-]{1,200})\.json$/;

/** Whether an id can be the name of a file. */
export const isJournalId = (id: string): boolean => ENTRY.test(`${id}.json`);

export class Journal<R> {
  readonly #folder: string;
  readonly #filesKeptMs: number;

  /** `filesKeptMs`: how long files of what has not started are kept, such as downloads that can be continued. */
  constructor(stateDir: string, name: string, filesKeptMs = 0) {
    this.#folder = join(stateDir, name);
    this.#filesKeptMs = filesKeptMs;
  }

  async read(id: string): Promise<Entry<R> | null> {
    const stored = await readObject(this.#path(id));
    if (stored === null) return null;
    if (stored.state === "finished") return { state: "finished", result: stored.result as R };
    if (stored.state === "delivered") return { state: "delivered" };
    return { state: "started", ...(stored.soFar ? { soFar: stored.soFar as R } : {}) };
  }

  write(id: string, entry: Entry<R>): Promise<void> {
    return replaceFile(this.#path(id), JSON.stringify(entry));
  }

  /** What has results that the server may not have. */
  async unfinished(): Promise<string[]> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const ids = (await readdir(this.#folder)).flatMap((name) => ENTRY.exec(name)?.[1] ?? []);
    const entries = await Promise.all(ids.map(async (id) => ({ id, entry: await this.read(id) })));
    return entries.filter(({ entry }) => entry !== null && entry.state !== "delivered").map(({ id }) => id);
  }

  /** Removes entries of the past, and files that a crash left. */
  async prune(now: number): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const path = join(this.#folder, name);
      const id = ENTRY.exec(name)?.[1];
      if (id !== undefined && (await this.read(id))?.state !== "delivered") continue;
      const keptMs = id !== undefined ? KEPT_MS : name.endsWith(".files") ? this.#filesKeptMs : 0;
      const stats = await stat(path).catch(() => null);
      if (stats !== null && now - stats.mtimeMs >= keptMs) await rm(path, { recursive: true, force: true });
    }
  }

  /** The folder of its own files. */
  filesOf(id: string): string {
    return join(this.#folder, `${id}.files`);
  }

  #path(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}
