// Installer files that are damaged or made to harm: altered ones, ones that lie about sizes, and ones that unpack to far
// more than they are.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateSync, gzipSync } from "node:zlib";
import { changeBytes } from "./agent-fuzz.ts";
import { zip } from "./feeds.ts";
import { Dice } from "./request-fuzz.ts";
import { entry, signature, xar } from "./xar.ts";

/** Packages that other tools have made. */
export const packageFolder = "test/fixtures/packages";

export interface NamedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

export async function soundPackages(): Promise<NamedFile[]> {
  const names = (await readdir(packageFolder)).filter((name) => !name.endsWith(".md")).sort();
  return Promise.all(names.map(async (name) => ({ name, bytes: await readFile(join(packageFolder, name)) })));
}

/** Bytes at the beginning, where the descriptions are. */
const DESCRIBED = 4096;

/** Endless altered packages; the same seed produces the same ones. */
export function* alteredPackages(sound: readonly NamedFile[], seed: number): Generator<NamedFile> {
  const dice = new Dice(seed);
  for (let i = 0; ; i++) {
    const { name, bytes } = sound[i % sound.length]!;
    let altered = Buffer.from(bytes);
    for (let changes = 1 + dice.int(6); changes > 0 && altered.length > 0; changes--) {
      const at = dice.int(Math.min(altered.length, DESCRIBED));
      if (dice.chance(0.25)) altered.fill(dice.int(2) * 255, at, Math.min(altered.length, at + dice.int(16)));
      else altered[at] = dice.int(256);
    }
    if (dice.chance(0.2)) altered = altered.subarray(0, dice.int(altered.length));
    else if (dice.chance(0.1)) altered = Buffer.from(changeBytes(dice, altered));
    yield { name, bytes: altered };
  }
}

/** A member of an `ar` archive, which may state another size than it has. */
const member = (name: string, content: Buffer, size = content.length): Buffer =>
  Buffer.concat([
    Buffer.from(
      `${name.padEnd(16)}${"0".padEnd(12)}${"0".padEnd(6)}${"0".padEnd(6)}${"644".padEnd(8)}${String(size).padEnd(10)}\`\n`,
    ),
    content,
    Buffer.alloc(content.length % 2, "\n"),
  ]);

/** The beginning of a Debian package: a member that describes it. */
export const deb = (name: string, content: Buffer, size?: number): Buffer =>
  Buffer.concat([Buffer.from("!<arch>\n"), member(name, content, size)]);

/** Everything before and after the payload of a Debian package whose payload has this size in bytes. */
export function debAround(name: string, payload: number): { readonly head: Buffer; readonly tail: Buffer } {
  const control = gzipSync(tarOf("./control", `Package: ${name}\nVersion: 1.0\nArchitecture: all\n`));
  const data = member("data.tar", Buffer.alloc(0), payload);
  const head = Buffer.concat([deb("debian-binary", Buffer.from("2.0\n")), member("control.tar.gz", control), data]);
  return { head, tail: Buffer.alloc(payload % 2, "\n") };
}

function tarOf(name: string, text: string): Buffer {
  const blocks = Buffer.alloc(512 * (3 + Math.ceil(text.length / 512)));
  blocks.write(name, 0);
  blocks.write("0000644\0", 100);
  blocks.write(`${text.length.toString(8).padStart(11, "0")}\0`, 124);
  blocks.write("        0", 148);
  blocks.write("ustar\0", 257);
  const sum = blocks.subarray(0, 512).reduce((total, byte) => total + byte, 0) - "0".charCodeAt(0);
  blocks.write(`${sum.toString(8).padStart(6, "0")}\0 0`, 148);
  blocks.write(text, 512);
  return blocks;
}

/** RFC 8878: one frame of blocks that repeat a byte, 128 KiB each. */
function zstandardBomb(blocks: number): Buffer {
  const header = Buffer.from("28b52ffd0058", "hex");
  const block = (isLast: boolean) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUIntLE((128 * 1024 * 8 + 2 + Number(isLast)) & 0xffffff, 0, 3);
    return bytes;
  };
  return Buffer.concat([header, ...Array.from({ length: blocks }, (_, i) => block(i === blocks - 1))]);
}

const MiB = 1024 * 1024;
const PLIST = "Payload/A.app/Info.plist";

/** Files that must be refused, with a part of the reason. */
export function hostilePackages(): (NamedFile & { readonly reason: string })[] {
  const damaged = "the file is damaged or incomplete";
  const undescribed = "without a description";
  const unread = "its table of contents cannot be read";
  const gzip = gzipSync(Buffer.alloc(256 * MiB));
  const toc = `<?xml version="1.0"?><xar><toc>${signature}${entry("Distribution").repeat(100)}</toc>`;
  const spaces = Buffer.concat([Buffer.from(toc), Buffer.alloc(256 * MiB, " "), Buffer.from("</xar>")]);
  const app = zip({ [PLIST]: "\0".repeat(64 * MiB) });
  const lyingApp = Buffer.from(app);
  // What the archive says of the unpacked size, in the entry and in the directory.
  lyingApp.writeUInt32LE(100, 22);
  lyingApp.writeUInt32LE(100, app.indexOf("PK\x01\x02") + 24);
  const tar = Buffer.alloc(1024);
  tar.write("./control", 0);
  tar.write("-1000\0", 124);
  return [
    { name: "gzip-bomb.deb", reason: damaged, bytes: deb("control.tar.gz", gzip) },
    { name: "zstandard-bomb.deb", reason: "is too large", bytes: deb("control.tar.zst", zstandardBomb(8_000)) },
    // A window of 2 GB for a few bytes.
    {
      name: "zstandard-window.deb",
      reason: undescribed,
      bytes: deb("control.tar.zst", Buffer.from("28b52ffd00a8010000", "hex")),
    },
    { name: "longer-than-the-file.deb", reason: damaged, bytes: deb("control.tar.gz", Buffer.alloc(10), 4_000_000) },
    {
      name: "too-long.deb",
      reason: "description of the package is too large",
      bytes: deb("control.tar.gz", Buffer.alloc(10), 999_999_999),
    },
    { name: "negative.deb", reason: damaged, bytes: deb("control.tar", tar) },
    { name: "many-members.deb", reason: undescribed, bytes: Buffer.concat([deb("a", Buffer.alloc(0)), manyMembers()]) },
    { name: "contents-bomb.pkg", reason: unread, bytes: xar({ contents: deflateSync(spaces), unpacked: 4 * MiB }) },
    { name: "contents-lie.pkg", reason: unread, bytes: xar({ contents: deflateSync(spaces), unpacked: 100 }) },
    { name: "large-contents.pkg", reason: "larger than 4194304 bytes", bytes: xar({ unpacked: 2 ** 40 }) },
    {
      name: "longer-than-the-file.pkg",
      reason: "its table of contents is incomplete",
      bytes: xar({ packed: 4_000_000 }),
    },
    { name: "bomb.ipa", reason: "Info.plist is too large", bytes: app },
    { name: "lying-bomb.ipa", reason: damaged, bytes: lyingApp },
    {
      name: "many-entries.ipa",
      reason: "has no Payload/NAME.app/Info.plist",
      bytes: zip(Object.fromEntries(manyNames().map((name) => [name, ""]))),
    },
  ];
}

const manyMembers = (): Buffer => Buffer.concat(Array.from({ length: 20_000 }, () => member("a", Buffer.alloc(0))));
const manyNames = (): string[] => Array.from({ length: 20_000 }, (_, i) => `Payload/A.app/${i}`);
