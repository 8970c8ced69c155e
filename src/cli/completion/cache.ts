// A short-lived cache of names for completion, because a shell runs completion at every Tab.
import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { cacheDir } from "../files/paths.ts";
import { isExposed, writePrivate } from "../files/private-file.ts";
import type { Io } from "../io.ts";

/** How long names are cached, and how long no request is sent to a server that did not reply. */
const FRESH_MS = 45_000;
const FAILED_MS = 10_000;
const LARGEST_FILE = 256 * 1024;
const MOST_ENTRIES = 30;
const MOST_FILES = 20;

export interface CachedValues {
  readonly at: number;
  /** Null: the server did not reply. */
  readonly rows: readonly CompletionRow[] | null;
}
export interface CompletionRow {
  readonly value: string;
  readonly about: string;
  readonly id: number;
}
type Entries = Record<string, CachedValues>;

const folder = (env: Io["env"]): string => join(cacheDir(env), "completion");

/** Cached names of one server and user; `owner` identifies the two. */
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

  async get(key: string): Promise<CachedValues | null> {
    const cached = (await this.#read())[key];
    return cached && this.#fresh(cached) ? cached : null;
  }

  async put(key: string, rows: readonly CompletionRow[] | null): Promise<void> {
    const fresh = Object.entries(await this.#read()).filter(([, cached]) => this.#fresh(cached));
    const kept = [
      ...fresh.filter(([cachedKey]) => cachedKey !== key).slice(1 - MOST_ENTRIES),
      [key, { at: this.#now, rows }],
    ];
    this.#entries = Object.fromEntries(kept) as Entries;
    const text = JSON.stringify(this.#entries);
    if (text.length > LARGEST_FILE) return this.#write(JSON.stringify({ [key]: { at: this.#now, rows } }));
    await this.#write(text);
  }

  /** An entry from the future (the clock was set back) counts as stale. */
  #fresh({ at, rows }: CachedValues): boolean {
    const age = this.#now - at;
    return age >= 0 && age < (rows === null ? FAILED_MS : FRESH_MS);
  }

  async #read(): Promise<Entries> {
    if (this.#entries) return this.#entries;
    this.#entries = {};
    try {
      // Ignore the cache if other users can read or write it.
      if ((await isExposed(this.#folder)) || (await isExposed(this.#file))) return this.#entries;
      const { size } = await stat(this.#file);
      if (size > LARGEST_FILE) return this.#entries;
      const read: unknown = JSON.parse(await readFile(this.#file, "utf8"));
      if (typeof read === "object" && read !== null) this.#entries = read as Entries;
    } catch {
      // The file is missing, or only partly written because of a crash: fetch the names from the server.
    }
    return this.#entries;
  }

  async #write(text: string): Promise<void> {
    if (text.length > LARGEST_FILE || (await isExposed(this.#folder))) return;
    await writePrivate(this.#file, text);
    const files = await readdir(this.#folder);
    if (files.length <= MOST_FILES) return;
    // For a user with many servers, only the latest file is still fresh.
    for (const file of files) if (join(this.#folder, file) !== this.#file) await rm(join(this.#folder, file));
  }
}

/** Deletes all cached names, so that nobody can see them after a sign-out. */
export const clearCompletion = (env: Io["env"]): Promise<void> => rm(folder(env), { recursive: true, force: true });
