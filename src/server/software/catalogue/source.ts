// Reads the catalogue's files, from a directory or over HTTP, and checks its signature.
import { createHash, type KeyObject, verify } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { z } from "zod";
import { issueText } from "../../../api/issue-text.ts";
import { readPublicKey } from "../../../pki/public-key.ts";
import type { Services } from "../../platform/core/context.ts";
import { fetchVendor, OutboundError } from "../../platform/core/outbound/fetch.ts";
import { CatalogueList, Manifest } from "./format.ts";

/** A file of the catalogue cannot be used. The message names it, and may be shown to admins. */
export class CatalogueError extends Error {}

const LIST = "apps.json";
const LIST_MAX = 32 * 1024 * 1024;
const FILE_MAX = 8 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

type Deps = Pick<Services, "settings" | "running" | "dryRun">;

export interface CatalogueSource {
  /** Throws if the list is not signed with the key of the settings. */
  list(): Promise<readonly unknown[]>;
  /** With `digest`, a file with another SHA-256 is refused. */
  manifest(slug: string, digest: string | undefined): Promise<{ manifest: Manifest; sha256: string }>;
}

/** Null if no catalogue is set. */
export function catalogueSource(services: Deps): CatalogueSource | null {
  const { catalogue_url: url, catalogue_key: key } = services.settings;
  if (url === undefined) return null;
  const read = /^https?:\/\//i.test(url) ? readingOver(services, url) : readingIn(url);
  return {
    async list() {
      const file = await read(LIST, LIST_MAX);
      if (key !== undefined) checkSignature(publicKeyOf(key), file, await read(`${LIST}.sig`, 1024));
      return parse(CatalogueList, LIST, file).apps;
    },
    async manifest(slug, digest) {
      const name = `${slug}.json`;
      const file = await read(name, FILE_MAX);
      const sha256 = createHash("sha256").update(file).digest("hex");
      if (digest !== undefined && sha256 !== digest)
        throw new CatalogueError(`${name}: its SHA-256 is not the one that ${LIST} names`);
      return { manifest: parse(Manifest, name, file), sha256 };
    },
  };
}

type Read = (name: string, most: number) => Promise<Buffer>;

const readingIn = (url: string): Read => {
  const folder = url.startsWith("file:") ? fileURLToPath(url) : url;
  return async (name, most) => {
    const path = join(folder, name);
    try {
      if ((await stat(path)).size > most) throw new CatalogueError(`${path}: larger than ${most} bytes`);
      return await readFile(path);
    } catch (error) {
      if (error instanceof CatalogueError) throw error;
      throw new CatalogueError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
    }
  };
};

const readingOver = (services: Deps, url: string): Read => {
  const base = url.replace(/\/+$/, "");
  return async (name, most) => {
    try {
      const { status, body } = await fetchVendor(services, `${base}/${name}`, { timeout: TIMEOUT_MS, maxBytes: most });
      if (status !== 200) throw new CatalogueError(`${name}: the catalogue's server answered with status ${status}`);
      return body;
    } catch (error) {
      if (error instanceof OutboundError) throw new CatalogueError(`${name}: ${error.message}`);
      throw error;
    }
  };
};

function parse<T>(schema: z.ZodType<T>, name: string, file: Buffer): T {
  let content: unknown;
  try {
    content = JSON.parse(file.toString("utf8"));
  } catch {
    throw new CatalogueError(`${name}: not valid JSON`);
  }
  const parsed = schema.safeParse(content);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new CatalogueError(`${name}: ${issue.path.join(".")} ${issueText(issue)}`);
}

function publicKeyOf(text: string): KeyObject {
  try {
    const key = readPublicKey(text);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // Reported as any other text that is no such key.
  }
  throw new CatalogueError("the setting catalogue_key is not an Ed25519 public key in PEM form");
}

/** The signature is 64 bytes, or their base64. */
function checkSignature(key: KeyObject, file: Buffer, signatureFile: Buffer): void {
  const signature =
    signatureFile.length === 64 ? signatureFile : Buffer.from(signatureFile.toString("latin1"), "base64");
  if (!verify(null, file, key, signature))
    throw new CatalogueError(`${LIST}: its signature was not made with the key of the setting catalogue_key`);
}
