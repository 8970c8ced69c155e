// Reads the token file that the portal gives for download: an encrypted S/MIME message, inside it another message with
// JSON between markers.
import type { KeyObject } from "node:crypto";
import { z } from "zod";
import { BadCms } from "../../../../pki/cms.ts";
import { openEnvelope } from "../../../../pki/enveloped-data.ts";
import { cmsIn } from "../../../../pki/smime.ts";
import type { Certificate } from "../../../../pki/x509.ts";

const Token = z.object({
  consumer_key: z.string().min(1).max(1024),
  consumer_secret: z.string().min(1).max(1024),
  access_token: z.string().min(1).max(1024),
  access_secret: z.string().min(1).max(1024),
  access_token_expiry: z.iso.datetime({ offset: true }),
});
export type PortalToken = z.output<typeof Token>;

/** The message says what is wrong with the file, and may be shown to the user. */
export class BadTokenFile extends Error {}

/** Throws `BadTokenFile`. */
export function readTokenFile(file: Buffer, recipient: Certificate, key: KeyObject): PortalToken {
  const opened = open(file, recipient, key).toString("utf8");
  const match = /-----BEGIN MESSAGE-----([\s\S]*?)-----END MESSAGE-----/.exec(opened);
  const parsed = Token.safeParse(jsonOf(match?.[1] ?? ""));
  if (!parsed.success) throw new BadTokenFile("the token has no credentials");
  return parsed.data;
}

function open(file: Buffer, recipient: Certificate, key: KeyObject): Buffer {
  let message: Buffer;
  try {
    message = cmsIn(file);
  } catch (error) {
    if (error instanceof BadCms) throw new BadTokenFile("the file is not a token of the portal");
    throw error;
  }
  try {
    return openEnvelope(message, recipient, key).content;
  } catch {
    throw new BadTokenFile("the token is encrypted for another public key: download it again with this server's key");
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
