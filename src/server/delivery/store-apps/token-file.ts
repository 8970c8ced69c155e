import { z } from "zod";

/** Why the file is no token. The message continues a sentence about the file. */
export class BadTokenFile extends Error {}

const Content = z.object({ token: z.string().min(1), expDate: z.string(), orgName: z.string().max(1024).default("") });

export interface LicenseToken {
  /** What the service takes: the file's content. */
  readonly token: string;
  readonly orgName: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Reads a token's file (.vpptoken): JSON in base64. */
export function readTokenFile(file: Buffer): LicenseToken {
  const token = file.toString("latin1").trim();
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(token)) throw new BadTokenFile("the file is not the token of a location");
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(token, "base64").toString("utf8"));
  } catch {
    throw new BadTokenFile("the file is not the token of a location");
  }
  const parsed = Content.safeParse(content);
  if (!parsed.success) throw new BadTokenFile("the file is not the token of a location");
  // The zone is written without a colon, as +0000.
  const expiresAt = Date.parse(parsed.data.expDate.replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
  if (Number.isNaN(expiresAt)) throw new BadTokenFile("the token has no date on which it expires");
  return { token, orgName: parsed.data.orgName, expiresAt };
}
