// Writes xar archives: a header, a compressed table of contents in XML, and a heap with its checksum and the files.
// See https://github.com/mackyle/xar/wiki/xarformat.
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";

type XarEntry =
  | { readonly name: string; readonly content: Buffer }
  | { readonly name: string; readonly entries: readonly XarEntry[] };

const HEADER_BYTES = 28;
const SHA1 = 1;
const SHA1_BYTES = 20;

const sha1 = (content: Buffer): Buffer => createHash("sha1").update(content).digest();

/** Names are those of the package's own files, so they need no escaping. `epoch`: seconds since 1970. */
export function createXar(entries: readonly XarEntry[], epoch: number): Buffer {
  const heap: Buffer[] = [];
  // The checksum of the table of contents is first.
  let offset = SHA1_BYTES;
  let id = 0;
  const time = new Date(epoch * 1000).toISOString().replace(/\.\d+Z$/, "Z");

  const dataOf = (content: Buffer): string => {
    const sum = sha1(content).toString("hex");
    const place = `<length>${content.length}</length><offset>${offset}</offset><size>${content.length}</size>`;
    heap.push(content);
    offset += content.length;
    const sums = ["archived", "extracted"].map((name) => `<${name}-checksum style="sha1">${sum}</${name}-checksum>`);
    return `<data>${place}<encoding style="application/octet-stream"/>${sums.join("")}</data>`;
  };
  const fileOf = (file: XarEntry): string => {
    const attributes = `<mtime>${time}</mtime><uid>0</uid><user>root</user><gid>0</gid><group>wheel</group>`;
    const [type, mode] = "content" in file ? ["file", "0644"] : ["directory", "0755"];
    id += 1;
    const element = `<file id="${id}"><name>${file.name}</name><type>${type}</type><mode>${mode}</mode>${attributes}`;
    return `${element}${"content" in file ? dataOf(file.content) : file.entries.map(fileOf).join("")}</file>`;
  };

  const files = entries.map(fileOf).join("\n");
  const checksum = `<checksum style="sha1"><offset>0</offset><size>${SHA1_BYTES}</size></checksum>`;
  const about = `<creation-time>${time.slice(0, -1)}</creation-time>${checksum}`;
  const toc = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n<xar><toc>${about}\n${files}\n</toc></xar>\n`);
  const packed = deflateSync(toc);
  const header = Buffer.alloc(HEADER_BYTES);
  header.write("xar!", "latin1");
  header.writeUInt16BE(HEADER_BYTES, 4);
  header.writeUInt16BE(1, 6);
  header.writeBigUInt64BE(BigInt(packed.length), 8);
  header.writeBigUInt64BE(BigInt(toc.length), 16);
  header.writeUInt32BE(SHA1, 24);
  return Buffer.concat([header, packed, sha1(packed), ...heap]);
}
