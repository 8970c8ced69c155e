// xar archives: a header, a compressed table of contents in XML, and a heap with the files.
import { promisify } from "node:util";
import { inflate } from "node:zlib";
import { decodeXml } from "../xml/decode.ts";
import { childrenOf, everyElement, parseXml, type XmlElement, XmlProblem } from "../xml/xml.ts";
import { PackageError, type PackageFile, part, requireUpTo } from "./package.ts";
import { type Packing, UNPACKED_MAX, unpack } from "./unpack.ts";

const HEADER = { least: 28, most: 4096, magic: 0x78617221 } as const;
/** Bytes of the table of contents. A large installer has some hundred kilobytes. */
const CONTENTS_MAX = 4 * 1024 * 1024;
const MAX_ELEMENTS = 200_000;

export interface Xar {
  /** The element `toc` of the table of contents. */
  readonly toc: XmlElement;
  /** Where the heap begins. */
  readonly heap: number;
}

/** Throws `PackageError`. */
export async function openXar(file: PackageFile): Promise<Xar> {
  const header = file.size < HEADER.least ? null : await part(file, 0, HEADER.least);
  if (header?.readUInt32BE(0) !== HEADER.magic) throw new PackageError("is not a package: it is not a xar archive");
  const at = header.readUInt16BE(4);
  const [packed, unpacked] = [header.readBigUInt64BE(8), header.readBigUInt64BE(16)];
  if (packed > CONTENTS_MAX || unpacked > CONTENTS_MAX)
    throw new PackageError(`has a table of contents that is larger than ${CONTENTS_MAX} bytes`);
  const length = Number(packed);
  if (at < HEADER.least || at > HEADER.most || length === 0 || at + length > file.size)
    throw new PackageError("is damaged: its table of contents is incomplete");
  const contents = await readContents(await part(file, at, length), Number(unpacked) || 1);
  const [toc] = contents.name === "xar" ? childrenOf(contents, "", "toc") : [];
  if (!toc) throw new PackageError("is not a package: its xar archive has no table of contents");
  requireHeap(file, toc, at + length);
  return { toc, heap: at + length };
}

/** Files, their attributes, the checksum and signatures state where in the heap they are. */
function requireHeap(file: PackageFile, toc: XmlElement, heap: number): void {
  for (const element of everyElement(toc)) {
    const [offset, length] = [numberOf(element, "offset"), numberOf(element, "length")];
    if (offset >= 0) requireUpTo(file, heap + offset + Math.max(length < 0 ? numberOf(element, "size") : length, 0));
  }
}

async function readContents(packed: Buffer, maxOutputLength: number): Promise<XmlElement> {
  try {
    const text = await promisify(inflate)(packed, { maxOutputLength });
    return parseXml(decodeXml(text), { most: MAX_ELEMENTS, lenient: true });
  } catch (error) {
    if (error instanceof XmlProblem || isZlibError(error))
      throw new PackageError("is damaged: its table of contents cannot be read");
    throw error;
  }
}

const isZlibError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(Z_|ERR_BUFFER_TOO_LARGE$)/.test(String(error.code));

const childText = (element: XmlElement, name: string): string => childrenOf(element, "", name)[0]?.text.trim() ?? "";
/** -1: there is none. */
const numberOf = (element: XmlElement, name: string): number =>
  /^\d{1,15}$/.test(childText(element, name)) ? Number(childText(element, name)) : -1;
export const nameOf = (element: XmlElement): string => childText(element, "name");

const packings: Readonly<Record<string, Packing>> = {
  "application/octet-stream": "none",
  "application/x-gzip": "zlib",
};

/** The content of a small file of the archive. Throws `PackageError`. */
export async function contentOf(file: PackageFile, { heap }: Xar, entry: XmlElement): Promise<Buffer> {
  const [data] = childrenOf(entry, "", "data");
  const [encoding] = data ? childrenOf(data, "", "encoding") : [];
  const packing = packings[encoding?.attributes.get("style") ?? "application/octet-stream"];
  const [offset, length] = data ? [numberOf(data, "offset"), numberOf(data, "length")] : [-1, -1];
  if (packing === undefined || offset < 0 || length < 0 || length > UNPACKED_MAX)
    throw new PackageError("is damaged: its description cannot be read");
  return unpack(await part(file, heap + offset, length), packing);
}
