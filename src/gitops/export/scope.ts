// What one exported main file is about.
import type { ConfigurationState, StateThing } from "../../api/edge/configuration.ts";
import type { Json } from "../../text/differences.ts";
import type { Owner } from "../plan/diff.ts";
import { compareTexts } from "../plan/values.ts";
import type { ScopeKind } from "../schema/sections.ts";
import type { Fields } from "./fields.ts";

/** The objects by owner and kind, sorted by name. */
export class Objects {
  readonly #things = new Map<string, StateThing[]>();

  readonly #files: Readonly<Record<string, string>>;

  constructor(things: readonly StateThing[], files: Readonly<Record<string, string>>) {
    this.#files = files;
    for (const thing of things) {
      const key = JSON.stringify([thing.owner, thing.kind]);
      const list = this.#things.get(key);
      if (list) list.push(thing);
      else this.#things.set(key, [thing]);
    }
  }

  all(owner: Owner, kind: string): readonly StateThing[] {
    const things = this.#things.get(JSON.stringify([owner, kind])) ?? [];
    return things.sort((a, b) => compareTexts(a.name, b.name));
  }

  /** The content of a file to which a value refers. */
  content(sha256: string): Uint8Array {
    const text = this.#files[sha256];
    if (text === undefined) throw new Error(`the state has no file with the digest ${sha256}`);
    return Buffer.from(text, "base64");
  }

  /** The value of a kind with one object per owner; null if there is none. */
  singleValue(owner: Owner, kind: string): Json {
    return this.all(owner, kind)[0]?.value ?? null;
  }
}

/** A large file of an object of this kind. */
export interface ExportedDownload {
  readonly of: string;
  readonly sha256: string;
}

/** One main file. */
export interface ExportScope {
  readonly file: ScopeKind;
  readonly owner: Owner;
  /** The name of the main file of a team, without its extension; empty for the global file. */
  readonly stem: string;
  readonly objects: Objects;
  readonly defaults: ConfigurationState["defaults"];
  /** Writes a text beside the main file, under a path below the directory of the export. */
  addFile(path: string, text: string): void;
  /** Adds a text that hosts get, which may name custom variables. */
  addHostFile(path: string, text: string): void;
  /** Adds a file that is not text. */
  addContent(path: string, content: Uint8Array): void;
  /** Adds a large file, which is downloaded. */
  addDownload(path: string, file: ExportedDownload): void;
}

/** What a kind writes to the sections of a main file; the parts of all kinds are merged. */
export interface ExportedSections {
  readonly settings?: Fields;
  readonly controls?: Fields;
  readonly agent_options?: Json;
  /** Lists of `software`. */
  readonly software?: Fields;
}
