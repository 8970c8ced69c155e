import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { Source } from "./sources.ts";
import { openTableFile, type TableFile } from "./table-file.ts";

/** The reference files of feeds by name. A file is opened when it is first needed. */
export class TableFiles {
  readonly #sourcesByName: ReadonlyMap<string, Source>;
  readonly #placeOf: (source: Source) => string | Promise<string>;
  readonly #opened = new Map<string, Promise<TableFile>>();
  readonly #handles: number[] = [];

  constructor(sources: readonly Source[], placeOf: (source: Source) => string | Promise<string>) {
    this.#sourcesByName = new Map(sources.map((source) => [source.name, source]));
    this.#placeOf = placeOf;
  }

  has(name: string): boolean {
    return this.#sourcesByName.has(name);
  }

  open(name: string): Promise<TableFile> {
    let file = this.#opened.get(name);
    if (file === undefined) {
      file = this.#start(name);
      this.#opened.set(name, file);
      file.catch(() => this.#opened.delete(name));
    }
    return file;
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#opened.values());
    for (const handle of this.#handles.splice(0)) closeSync(handle);
    this.#opened.clear();
  }

  async #start(name: string): Promise<TableFile> {
    const handle = openSync(await this.#placeOf(this.#sourcesByName.get(name)!), "r");
    this.#handles.push(handle);
    return openTableFile(fstatSync(handle).size, (at, length) => {
      const bytes = Buffer.allocUnsafe(length);
      const read = readSync(handle, bytes, 0, length, at);
      return read === length ? bytes : bytes.subarray(0, read);
    });
  }
}
