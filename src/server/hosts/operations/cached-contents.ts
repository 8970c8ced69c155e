// Texts that many hosts get or answer at the same time, such as the script of a batch run. Reading each again for every
// host would decompress it, and make a copy of it, for every host.
import { part } from "../../platform/core/running.ts";

/** Characters of all texts together, which take up to four bytes each with their JSON. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

export interface CachedContent {
  readonly text: string;
  /** The text as a JSON string in UTF-8, the same bytes for all who send it. They must not be changed. */
  json(): Uint8Array<ArrayBuffer>;
}

/** A text is looked up by its SHA-256 digest, so it is never out of date. Those that were not used for longest go first. */
export class CachedContents {
  readonly #max: number;
  readonly #contents = new Map<string, CachedContent>();
  #characters = 0;

  constructor(max = MAX_CHARACTERS) {
    this.#max = max;
  }

  /** The text with this digest, which `load` reads if it is not cached. */
  async get(digest: string, load: () => Promise<string>): Promise<CachedContent> {
    const cached = this.#contents.get(digest);
    if (cached === undefined) return this.#add(digest, await load());
    this.#contents.delete(digest);
    this.#contents.set(digest, cached);
    return cached;
  }

  get size(): number {
    return this.#contents.size;
  }

  #add(digest: string, text: string): CachedContent {
    const earlier = this.#contents.get(digest);
    if (earlier !== undefined) return earlier;
    let json: Uint8Array<ArrayBuffer> | null = null;
    const added = { text, json: () => (json ??= Buffer.from(JSON.stringify(text))) };
    if (text.length > this.#max) return added;
    this.#contents.set(digest, added);
    this.#characters += text.length;
    for (const [oldest, { text: old }] of this.#contents) {
      if (this.#characters <= this.#max) break;
      this.#contents.delete(oldest);
      this.#characters -= old.length;
    }
    return added;
  }
}

export const cachedContents = part("contents of operations", () => new CachedContents());
