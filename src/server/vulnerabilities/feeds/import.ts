// Turns feeds into reference files. The file of a feed is written while the feed is read, and takes the place of the
// one before only when all of it was right.
import { createHash, randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { seconds } from "../../core/clock.ts";
import { turns } from "../../core/concurrency/parts.ts";
import type { Services } from "../../core/context.ts";
import { and, eq, not, oneOf } from "../../store/query.ts";
import { StoreUnavailable } from "../../store/store.ts";
import type { RowOf } from "../../store/table.ts";
import { type Entry, tableFile } from "../reference/table-file.ts";
import { FeedError } from "./errors.ts";
import { epssEntries, kevEntries } from "./exploits.ts";
import { type Feed, feedsAt } from "./list.ts";
import { msrcEntries } from "./msrc.ts";
import { nvdEntries } from "./nvd.ts";
import { osvEntries } from "./osv.ts";
import { type Content, type FeedSource, FILE_MAX, feedSource } from "./source.ts";
import type { vulnerabilityFeeds } from "./tables.ts";
import { Tally } from "./tally.ts";

type FeedRow = RowOf<typeof vulnerabilityFeeds>;

export const BLOBS = "vulnerability-data/";
/** What a feed may have without compression. */
const CONTENT_MAX = 16 * 1024 * 1024 * 1024;
const NOTE_EVERY = seconds(2);
/** Records between two looks at the clock. */
const LOOKED_AT = 20;

/** Imports what has changed. Returns the feeds that could not be imported, with the reason. */
export async function importFeeds(services: Services, signal: AbortSignal): Promise<string[]> {
  const source = feedSource(services);
  if (source === null) return [];
  const { store, clock, log } = services;
  const feeds = feedsAt(clock.now());
  await store.vulnerabilityFeeds.upsert(
    feeds.map(({ name }) => ({ name, state: "waiting" as const })),
    { on: ["name"], set: [], returning: [] },
  );
  const rows = new Map((await store.vulnerabilityFeeds.list()).map((row) => [row.name, row]));
  await removeUnusedFiles(services, [...rows.values()]);
  const failed: string[] = [];
  for (const feed of feeds) {
    if (signal.aborted) return failed;
    const row = rows.get(feed.name)!;
    try {
      await importFeed(services, { source, feed, row, signal });
    } catch (error) {
      if (signal.aborted || error instanceof StoreUnavailable) throw error;
      const reason = error instanceof FeedError ? error.message : String(error);
      if (!(error instanceof FeedError)) log.warn({ err: error, feed: feed.name }, "a feed could not be imported");
      failed.push(`${feed.name}: ${reason}`);
      await set(services, row, { state: "failed", error: reason.slice(0, 1000), checked_at: clock.iso() });
    }
  }
  return failed;
}

const set = ({ store }: Services, { id }: FeedRow, values: Partial<Omit<FeedRow, "id">>) =>
  store.vulnerabilityFeeds.update({ where: eq("id", id), set: values });

interface Import {
  readonly source: FeedSource;
  readonly feed: Feed;
  readonly row: FeedRow;
  readonly signal: AbortSignal;
}

async function importFeed(services: Services, { source, feed, row, signal }: Import): Promise<void> {
  const { clock, blobs } = services;
  const digest = feed.hasMeta ? digestIn(await source.meta(feed, signal)) : null;
  // What was left out of the file at its import is still left out.
  const checked = { checked_at: clock.iso(), error: row.state === "current" ? row.error : "" };
  if (digest !== null && digest === row.digest && row.blob !== "") {
    await set(services, row, { ...checked, state: "current" });
    return;
  }

  const made = { blob: "", size: 0, records: 0, digest: "", error: "" };
  // Without a reference file, an unchanged feed has to be read again.
  const known = row.blob === "" ? { etag: "", last_modified: "" } : row;
  const result = await source.read(feed, known, signal, async (content) => {
    await set(services, row, { state: "importing", bytes_read: 0, bytes_total: content.total });
    made.blob = `${BLOBS}${feed.name}.${randomBytes(8).toString("hex")}`;
    const hash = createHash("sha256");
    const tally = new Tally();
    const check = (records: number) => {
      made.records = records;
      made.error = tally.result();
      made.digest = hash.digest("hex");
      if (digest !== null && made.digest !== digest)
        throw new FeedError("the file's SHA-256 digest is not the one of its .meta file");
      if (records === 0) throw new FeedError("the file has no entries that can be used");
    };
    const entries = counted(services, row, feed, content, { hash, tally, check }, signal);
    made.size = (await blobs.put(made.blob, tableFile(entries), { maxBytes: FILE_MAX })).size;
  });
  if (result.status !== "read") {
    // A file that disappears from a mirror takes nothing away.
    const state = result.status === "missing" && row.blob === "" ? "missing" : "current";
    await set(services, row, { ...checked, state });
    return;
  }
  const { etag, last_modified } = result;
  await set(services, row, { ...checked, ...made, etag, last_modified, state: "current", imported_at: clock.iso() });
  if (row.blob !== "") await blobs.delete(row.blob);
}

/** The line `sha256:` of a .meta file. */
function digestIn(meta: string | null): string | null {
  const found = meta === null ? null : /^sha256:([0-9a-f]{64})\s*$/im.exec(meta);
  return found?.[1]?.toLowerCase() ?? null;
}

/** What is found out of a file while it is read. */
interface Marks {
  readonly hash: ReturnType<typeof createHash>;
  readonly tally: Tally;
  /** Called at the end of the file with the number of its records. */
  readonly check: (records: number) => void;
}

/** The feed's entries; notes now and then how much of the feed was read. */
async function* counted(
  services: Services,
  row: FeedRow,
  feed: Feed,
  content: Content,
  marks: Marks,
  signal: AbortSignal,
): AsyncGenerator<Entry, void, undefined> {
  let read = 0;
  let notedAt = performance.now();
  const bytes = async function* () {
    for await (const part of content.bytes) {
      read += part.length;
      yield part;
    }
  };
  const add = (count: number) => {
    read += count;
  };
  const turn = turns();
  let records = 0;
  for await (const entry of entriesOf(feed, { ...content, bytes: bytes() }, marks, add)) {
    records++;
    yield entry;
    if (records % LOOKED_AT > 0) continue;
    await turn();
    signal.throwIfAborted();
    if (performance.now() - notedAt < NOTE_EVERY) continue;
    notedAt = performance.now();
    await set(services, row, { bytes_read: read });
  }
  marks.check(records);
}

function entriesOf(
  feed: Feed,
  content: Content,
  { hash, tally }: Marks,
  progress: (bytes: number) => void,
): AsyncIterable<Entry> {
  if (feed.kind === "osv")
    return content.file === null ? downloadedAdvisories(content, tally) : osvEntries(content.file, progress, tally);
  const { bytes } = content;
  const plain = hashed(feed.path.endsWith(".gz") ? gunzipped(bytes) : bytes, hash);
  const read = { nvd: nvdEntries, kev: kevEntries, epss: epssEntries, msrc: msrcEntries }[feed.kind];
  return read(plain, tally);
}

/** The archive's directory is at its end, so it has to be on the disk. */
async function* downloadedAdvisories(content: Content, tally: Tally): AsyncGenerator<Entry, void, undefined> {
  const folder = await mkdtemp(join(tmpdir(), "svc-feed-"));
  try {
    const file = join(folder, "all.zip");
    await pipeline(content.bytes, createWriteStream(file));
    yield* osvEntries(file, () => undefined, tally);
  } finally {
    await rm(folder, { recursive: true, force: true });
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

/** Files of imports that did not end, and of feeds that are no longer read. */
async function removeUnusedFiles({ blobs, store, clock }: Services, rows: readonly FeedRow[]): Promise<void> {
  const names = new Set(feedsAt(clock.now()).map(({ name }) => name));
  const old = rows.filter(({ name }) => !names.has(name));
  const used = new Set(rows.filter(({ name }) => names.has(name)).map(({ blob }) => blob));
  const unused: string[] = [];
  for await (const key of blobs.list(BLOBS)) if (!used.has(key)) unused.push(key);
  await store.vulnerabilityFeeds.delete(
    and(
      oneOf(
        "id",
        old.map(({ id }) => id),
      ),
      not(oneOf("name", [...names])),
    ),
  );
  for (const key of unused) await blobs.delete(key);
}
