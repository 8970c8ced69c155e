// Packages for Macs: xar archives, as Apple's tools write them.
import { deflateSync } from "node:zlib";

const CERTIFICATE = "MIIBszCCAVmgAwIBAgIBATAKBggqhkjOPQQDAjA=";

export const signature = `<signature style="RSA"><offset>20</offset><size>256</size><KeyInfo
 xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${CERTIFICATE}</X509Certificate></X509Data></KeyInfo></signature>`;
export const entry = (name: string, inside = ""): string =>
  `<file id="1"><name>${name}</name><type>file</type>${inside}</file>`;

interface XarInput {
  readonly toc?: string;
  readonly contents?: Buffer;
  readonly magic?: string;
  /** Sizes of the table of contents, where they differ from the real ones. */
  readonly packed?: number;
  readonly unpacked?: number;
}

/** The header (28 bytes), the compressed table of contents, and some bytes for the files. */
export function xar({ toc = signature + entry("Distribution"), magic = "xar!", ...given }: XarInput = {}): Buffer {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<xar><toc>${toc}</toc></xar>`;
  const contents = given.contents ?? deflateSync(text);
  const header = Buffer.alloc(28);
  header.write(magic, 0, "latin1");
  header.writeUInt16BE(28, 4);
  header.writeUInt16BE(1, 6);
  header.writeBigUInt64BE(BigInt(given.packed ?? contents.length), 8);
  header.writeBigUInt64BE(BigInt(given.unpacked ?? Buffer.byteLength(text)), 16);
  header.writeUInt32BE(1, 24);
  return Buffer.concat([header, contents, Buffer.alloc(1024, "payload ")]);
}

export const packageForm = (content: Buffer, fields: Readonly<Record<string, string>> = {}, name = "setup.pkg") => {
  const form = new FormData();
  for (const [key, value] of Object.entries(fields)) form.append(key, value);
  form.append("package", new Blob([new Uint8Array(content)]), name);
  return form;
};

/** A PNG image of one pixel. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

export const logoForm = (content: Uint8Array<ArrayBuffer> | string, name = "logo.png") => {
  const form = new FormData();
  form.append("logo", new Blob([content]), name);
  return form;
};

export const eulaForm = (content: string, name = "agreement.pdf") => {
  const form = new FormData();
  form.append("eula", new Blob([content]), name);
  return form;
};
