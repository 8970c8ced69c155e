// From the file of a feed to the reference file of its records. Neither needs a store: this runs in a thread of its own
// (feeds.thread.ts).
import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { type Entry, tableFile } from "../reference/table-file.ts";
import { FeedError } from "./errors.ts";
import { epssEntries, kevEntries } from "./exploits.ts";
import type { FeedKind } from "./list.ts";
import { msrcEntries } from "./msrc.ts";
import { nvdEntries } from "./nvd.ts";
import { osvEntries } from "./osv.ts";
import { Tally } from "./tally.ts";

/** What a feed may have without compression. */
const CONTENT_MAX = 16 * 1024 * 1024 * 1024;

export interface FeedFile {
  readonly kind: FeedKind;
  readonly path: string;
  readonly isGzip: boolean;
  /** SHA-256 of the content without compression, by its .meta file; null: it has none. */
  readonly digest: string | null;
}

/** What has been found out of a feed's file when it has been read. */
export interface FeedSummary {
  readonly records: number;
  /** SHA-256 of the content without compression; of an archive, that of nothing. */
  readonly digest: string;
  /** What was left out; empty: nothing. */
  readonly error: string;
}

/**
 * The bytes of the reference file, and at the end what the feed contained. `progress` gets the numbers of bytes that were
 * read. Throws `FeedError` before the last bytes if the feed cannot be used.
 */
export async function* readFeed(
  feed: FeedFile,
  progress: (bytes: number) => void,
): AsyncGenerator<Buffer, FeedSummary, undefined> {
  const hash = createHash("sha256");
  const tally = new Tally();
  let summary: FeedSummary | null = null;
  const checked = async function* (): AsyncGenerator<Entry, void, undefined> {
    let records = 0;
    for await (const entry of entriesOf(feed, { hash, tally }, progress)) {
      records++;
      yield entry;
    }
    const result = { records, error: tally.result(), digest: hash.digest("hex") };
    if (feed.digest !== null && result.digest !== feed.digest)
      throw new FeedError("the file's SHA-256 digest is not the one of its .meta file");
    if (records === 0) throw new FeedError("the file has no entries that can be used");
    summary = result;
  };
  yield* tableFile(checked());
  return summary!;
}

function entriesOf(
  { kind, path, isGzip }: FeedFile,
  { hash, tally }: { readonly hash: Hash; readonly tally: Tally },
  progress: (bytes: number) => void,
): AsyncIterable<Entry> {
  // The archive's directory is at its end.
  if (kind === "osv") return osvEntries(path, progress, tally);
  const bytes = bytesOf(path, progress);
  const plain = hashed(isGzip ? gunzipped(bytes) : bytes, hash);
  const read = { nvd: nvdEntries, kev: kevEntries, epss: epssEntries, msrc: msrcEntries }[kind];
  return read(plain, tally);
}

async function* bytesOf(path: string, progress: (bytes: number) => void): AsyncGenerator<Buffer, void, undefined> {
  for await (const part of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    progress((part as Buffer).length);
    yield part as Buffer;
  }
}

async function* gunzipped(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const source = Readable.from(bytes, { objectMode: false });
  const gunzip = createGunzip({ chunkSize: 128 * 1024 });
  // An error of the source ends the reader too.
  source.on("error", (error) => gunzip.destroy(error));
  try {
    for await (const part of source.pipe(gunzip)) yield part as Buffer;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw code.startsWith("Z_") ? new FeedError("the file is no gzip file, or is damaged or incomplete") : error;
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

async function* hashed(
  bytes: AsyncIterable<Buffer>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Buffer, void, undefined> {
  let total = 0;
  for await (const part of bytes) {
    total += part.length;
    if (total > CONTENT_MAX) throw new FeedError(`the content is larger than ${CONTENT_MAX} bytes`);
    hash.update(part);
    yield part;
  }
}
