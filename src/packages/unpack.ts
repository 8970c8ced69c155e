// Unpacks small compressed parts of packages, with a limit of what comes out.
import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { damaged, guarded, PackageError } from "./package.ts";
import { zstandardContent } from "./zstandard.ts";

/** Bytes of one part, packed or not. The parts that describe a package have some kilobytes. */
export const UNPACKED_MAX = 16 * 1024 * 1024;
/** Compressed with Zstandard, whose library is slower. */
const ZST_MAX = 2 * 1024 * 1024;

/** Bytes of the content times blocks: the library moves the rest of its buffer with each block. Allows 5 MB. */
const ZST_WORK_MAX = 256 * 1024 * 1024;

export type Packing = "none" | "gz" | "zlib" | "xz" | "zst";

export function unpack(bytes: Buffer, packing: Packing): Promise<Buffer> {
  return guarded(async () => {
    if (packing === "none") return bytes;
    if (packing === "gz") return promisify(gunzip)(bytes, { maxOutputLength: UNPACKED_MAX });
    if (packing === "zlib") return promisify(inflate)(bytes, { maxOutputLength: UNPACKED_MAX });
    return packing === "xz" ? unpackXz(bytes) : unpackZst(bytes);
  });
}

async function unpackXz(bytes: Buffer): Promise<Buffer> {
  // A CommonJS module: Node finds no names in it, so its exports are the default one.
  const { default: xz } = await import("xz-decompress");
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(bytes));
      controller.close();
    },
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = new xz.XzReadableStream(source).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    size += value.length;
    if (size > UNPACKED_MAX) {
      await reader.cancel();
      throw damaged();
    }
    // The library uses its memory again.
    chunks.push(value.slice());
  }
}

async function unpackZst(bytes: Buffer): Promise<Buffer> {
  if (bytes.length > ZST_MAX) throw new PackageError("the description of the package is too large");
  const { size, blocks } = zstandardContent(bytes);
  if (size * blocks > ZST_WORK_MAX) throw new PackageError("the description of the package is too large");
  const { decompress } = await import("fzstd");
  // With a buffer of its own the library does not make one of the size that the file asks for.
  return Buffer.from(decompress(bytes, new Uint8Array(size)));
}
