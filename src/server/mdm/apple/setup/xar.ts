// Checks that a file is a package that Macs install when device management asks them: a signed distribution package.
// Packages are xar archives: a header, a compressed table of contents in XML, and the files.
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { inflate } from "node:zlib";
import { childrenOf, everyElement, parseXml, utf8, type XmlElement, XmlProblem } from "../../../../xml/xml.ts";

/** The message says what is wrong with the file. */
export class BadPackage extends Error {}

/** The bytes from the first to the last one, both inclusive. */
export type ReadRange = (start: number, end: number) => Promise<Readable>;

const HEADER = { least: 28, most: 4096, magic: 0x78617221 } as const;
/** Of the table of contents. That of a large installer has some hundred kilobytes. */
const CONTENTS_MAX = 4 * 1024 * 1024;
const PARTS_MAX = 200_000;

const unpack = promisify(inflate);

export async function checkPackage(read: ReadRange, size: number): Promise<void> {
  const contents = await contentsOf(read, size);
  const [toc] = contents.name === "xar" ? childrenOf(contents, "", "toc") : [];
  if (!toc) throw new BadPackage("is not a package: its xar archive has no table of contents");
  if (
    !childrenOf(toc, "", "signature")
      .concat(childrenOf(toc, "", "x-signature"))
      .some(hasCertificate)
  )
    throw new BadPackage(
      "is not signed: sign it with `productsign` and a certificate of the type Developer ID Installer",
    );
  if (!childrenOf(toc, "", "file").some((file) => childrenOf(file, "", "name")[0]?.text === "Distribution"))
    throw new BadPackage(
      "is a component package, not a distribution package: convert it with `productbuild --package`",
    );
}

const hasCertificate = (signature: XmlElement): boolean =>
  [...everyElement(signature)].some(({ name, text }) => name === "X509Certificate" && text.trim() !== "");

async function contentsOf(read: ReadRange, size: number): Promise<XmlElement> {
  const header = await bytes(read, 0, HEADER.least);
  if (size < HEADER.least || header.readUInt32BE(0) !== HEADER.magic)
    throw new BadPackage("is not a package: it is not a xar archive");
  const at = header.readUInt16BE(4);
  const [packed, unpacked] = [header.readBigUInt64BE(8), header.readBigUInt64BE(16)];
  if (packed > CONTENTS_MAX || unpacked > CONTENTS_MAX)
    throw new BadPackage(`has a table of contents that is larger than ${CONTENTS_MAX} bytes`);
  const length = Number(packed);
  if (at < HEADER.least || at > HEADER.most || length === 0 || at + length > size)
    throw new BadPackage("is damaged: its table of contents is incomplete");
  try {
    const text = await unpack(await bytes(read, at, length), { maxOutputLength: Number(unpacked) || 1 });
    return parseXml(utf8(text), { most: PARTS_MAX, lenient: true });
  } catch (error) {
    if (error instanceof XmlProblem || isZlibError(error))
      throw new BadPackage("is damaged: its table of contents cannot be read");
    throw error;
  }
}

const isZlibError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(Z_|ERR_BUFFER_TOO_LARGE$)/.test(String(error.code));

async function bytes(read: ReadRange, start: number, length: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await read(start, start + length - 1)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
