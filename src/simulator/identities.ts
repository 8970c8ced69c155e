import { readFileSync, renameSync, writeFileSync } from "node:fs";

type File = { server: string; node_keys: Record<string, string> };

/** Node keys by host identifier, stored between runs. They are secrets, so only the owner can read the file. */
export class Identities {
  readonly #path: string;
  readonly #server: string;
  readonly #keys: Map<string, string>;

  constructor(path: string, server: string) {
    this.#path = path;
    this.#server = server;
    this.#keys = new Map(Object.entries(read(path, server)));
  }

  keyOf(identifier: string): string | null {
    return this.#keys.get(identifier) ?? null;
  }

  save(hosts: Iterable<{ identifier: string; nodeKey: string | null }>): void {
    for (const { identifier, nodeKey } of hosts) {
      if (nodeKey === null) this.#keys.delete(identifier);
      else this.#keys.set(identifier, nodeKey);
    }
    const file: File = { server: this.#server, node_keys: Object.fromEntries(this.#keys) };
    const fresh = `${this.#path}.new`;
    writeFileSync(fresh, JSON.stringify(file), { mode: 0o600 });
    renameSync(fresh, this.#path);
  }
}

function read(path: string, server: string): Record<string, string> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
  const file = parse(path, text);
  // Node keys of another server would be refused, so that every host would need an extra request to enroll.
  return file.server === server ? file.node_keys : {};
}

function parse(path: string, text: string): File {
  try {
    const file = JSON.parse(text) as Partial<File>;
    if (typeof file.server === "string" && typeof file.node_keys === "object" && file.node_keys) return file as File;
  } catch {
    // The error below does not repeat the content, which may contain secrets.
  }
  throw new Error(`${path} is not an identity file; remove it or name another`);
}
