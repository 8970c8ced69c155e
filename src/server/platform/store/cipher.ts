import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/** Encrypts secrets at rest. `open` throws if the text was encrypted with a different key or was modified. */
export interface Cipher {
  readonly keyId: string;
  seal(plain: string): string;
  open(sealed: string): string;
}

export class WrongKey extends Error {}

/** The id of the key that the text was encrypted with, or null if the text is not encrypted. */
export const keyIdOf = (sealed: string): string | null => /^v1\.([0-9a-f]{8})\./.exec(sealed)?.[1] ?? null;

/**
 * For key rotation: decrypts text of either key, and encrypts with `from` until `change` is called, then with `to`.
 */
export function changingCipher(from: Cipher, to: Cipher): Cipher & { change(): void } {
  let current = from;
  return {
    get keyId() {
      return current.keyId;
    },
    seal: (plain) => current.seal(plain),
    open: (sealed) => (keyIdOf(sealed) === to.keyId ? to : from).open(sealed),
    change() {
      current = to;
    },
  };
}

/**
 * AES-256-GCM with a random 96-bit nonce (NIST SP 800-38D). Format: `v1.<key id>.<base64url of nonce, ciphertext,
 * tag>`.
 * @param key 32 bytes
 */
export function createCipher(key: Uint8Array): Cipher {
  if (key.length !== 32) throw new WrongKey("the server key must be 32 bytes");
  const keyId = createHash("sha256").update("svc key id").update(key).digest("hex").slice(0, 8);

  return {
    keyId,
    seal(plain) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      const body = Buffer.concat([nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `v1.${keyId}.${body.toString("base64url")}`;
    },
    open(sealed) {
      const [version, id, body] = sealed.split(".");
      if (version !== "v1" || body === undefined) throw new WrongKey("not a sealed value");
      if (id !== keyId) throw new WrongKey(`encrypted with key ${id}, this server has key ${keyId}`);
      const bytes = Buffer.from(body, "base64url");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
      decipher.setAuthTag(bytes.subarray(-16));
      return decipher.update(bytes.subarray(12, -16), undefined, "utf8") + decipher.final("utf8");
    },
  };
}
