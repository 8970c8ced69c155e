// Names that completion asked for a moment ago: a shell asks again at every Tab.
import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Io } from "./io.ts";
import { cacheDir } from "./paths.ts";
import { isExposed, writePrivate } from "./private-file.ts";

/** How long names are believed, and how long a server that did not answer is left alone. */
const FRESH_MS = 45_000;
const FAILED_MS = 10_000;
const LARGEST_FILE = 256 * 1024;
const MOST_ENTRIES = 30;
const MOST_FILES = 20;

export interface Known {
  readonly at: number;
  /** Null: the server did not answer. */
  readonly rows: readonly Row[] | null;
}
export interface Row {
  readonly value: string;
  readonly about: string;
  readonly id: number;
}
type Entries = Record<string, Known>;

const folder = (env: Io["env"]): string => join(cacheDir(env), "completion");

/** What is known for one server as one user; `owner` names the two. */
export class CompletionCache {
  readonly #file: string;
  readonly #folder: string;
  readonly #now: number;
  #entries: Entries | undefined;

  constructor(env: Io["env"], owner: readonly (string | null)[], now: number) {
    this.#folder = folder(env);
    const name = createHash("sha256").update(JSON.stringify(owner)).digest("hex").slice(0, 32);
    this.#file = join(this.#folder, `${name}.json`);
    this.#now = now;
  }

  async get(key: string): Promise<Known | null> {
    const known = (await this.#read())[key];
    return known && this.#fresh(known) ? known : null;
  }

  async put(key: string, rows: readonly Row[] | null): Promise<void> {
    const fresh = Object.entries(await this.#read()).filter(([, known]) => this.#fresh(known));
    const kept = [...fresh.filter(([one]) => one !== key).slice(1 - MOST_ENTRIES), [key, { at: this.#now, rows }]];
    this.#entries = Object.fromEntries(kept) as Entries;
    const text = JSON.stringify(this.#entries);
    if (text.length > LARGEST_FILE) return this.#write(JSON.stringify({ [key]: { at: this.#now, rows } }));
    await this.#write(text);
  }

  /** A clock that was set back makes nothing last longer. */
  #fresh({ at, rows }: Known): boolean {
    const age = this.#now - at;
    return age >= 0 && age < (rows === null ? FAILED_MS : FRESH_MS);
  }

  async #read(): Promise<Entries> {
    if (this.#entries) return this.#entries;
    this.#entries = {};
    try {
      // What others may read or write is not ours.
      if ((await isExposed(this.#folder)) || (await isExposed(this.#file))) return this.#entries;
      const { size } = await stat(this.#file);
      if (size > LARGEST_FILE) return this.#entries;
      const read: unknown = JSON.parse(await readFile(this.#file, "utf8"));
      if (typeof read === "object" && read !== null) this.#entries = read as Entries;
    } catch {
      // Not there, or half written by a machine that went down: the server is asked.
    }
    return this.#entries;
  }

  async #write(text: string): Promise<void> {
    if (text.length > LARGEST_FILE || (await isExposed(this.#folder))) return;
    await writePrivate(this.#file, text);
    const files = await readdir(this.#folder);
    if (files.length <= MOST_FILES) return;
    // Who goes through many servers has only the last of them fresh anyway.
    for (const file of files) if (join(this.#folder, file) !== this.#file) await rm(join(this.#folder, file));
  }
}

/** Forgets all names: after a sign-out nobody may see them. */
export const clearCompletion = (env: Io["env"]): Promise<void> => rm(folder(env), { recursive: true, force: true });
