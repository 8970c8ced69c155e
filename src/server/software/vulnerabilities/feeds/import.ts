// Turns feeds into reference files. The file of a feed is written while the feed is read, and takes the place of the
// one before only when all of it was right.
import { randomBytes } from "node:crypto";
import { seconds } from "../../../platform/core/clock.ts";
import { ahead } from "../../../platform/core/concurrency/parts.ts";
import { Thread, ThreadError } from "../../../platform/core/concurrency/thread.ts";
import type { Services } from "../../../platform/core/context.ts";
import { and, eq, not, oneOf } from "../../../platform/store/query.ts";
import { StoreUnavailable } from "../../../platform/store/store.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { FeedError } from "./errors.ts";
import type { FeedThread } from "./feeds.thread.ts";
import { type Feed, feedsAt } from "./list.ts";
import type { FeedFile, FeedSummary } from "./read-feed.ts";
import { type FeedSource, FILE_MAX, feedSource } from "./source.ts";
import type { vulnerabilityFeeds } from "./tables.ts";

type FeedRow = RowOf<typeof vulnerabilityFeeds>;

const BLOB_PREFIX = "vulnerability-data/";
const NOTE_EVERY = seconds(2);

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
  const thread = new Thread<FeedThread>("software/vulnerabilities/feeds/feeds.thread", { signal });
  try {
    for (const feed of feeds) {
      if (signal.aborted) return failed;
      const row = rows.get(feed.name)!;
      try {
        await importFeed(services, { source, thread, feed, row, signal });
      } catch (error) {
        if (signal.aborted || error instanceof StoreUnavailable) throw error;
        const reason = error instanceof FeedError ? error.message : String(error);
        if (!(error instanceof FeedError)) log.warn({ err: error, feed: feed.name }, "a feed could not be imported");
        failed.push(`${feed.name}: ${reason}`);
        await set(services, row, { state: "failed", error: reason.slice(0, 1000), checked_at: clock.iso() });
      }
    }
  } finally {
    await thread.end();
  }
  return failed;
}

const set = ({ store }: Services, { id }: FeedRow, values: Partial<Omit<FeedRow, "id">>) =>
  store.vulnerabilityFeeds.update({ where: eq("id", id), set: values });

interface Import {
  readonly source: FeedSource;
  readonly thread: Thread<FeedThread>;
  readonly feed: Feed;
  readonly row: FeedRow;
  readonly signal: AbortSignal;
}

async function importFeed(services: Services, { source, thread, feed, row, signal }: Import): Promise<void> {
  const { clock, blobs } = services;
  const digest = feed.hasMeta ? digestIn(await source.meta(feed, signal)) : null;
  // What was left out of the file at its import is still left out.
  const checked = { checked_at: clock.iso(), error: row.state === "current" ? row.error : "" };
  if (digest !== null && digest === row.digest && row.blob !== "") {
    await set(services, row, { ...checked, state: "current" });
    return;
  }

  const imported = { blob: "", size: 0, records: 0, digest: "", error: "" };
  // Without a reference file, an unchanged feed has to be read again.
  const version = row.blob === "" ? { etag: "", last_modified: "" } : row;
  const result = await source.read(feed, version, signal, async ({ path, total }) => {
    await set(services, row, { state: "importing", bytes_read: 0, bytes_total: total });
    imported.blob = `${BLOB_PREFIX}${feed.name}.${randomBytes(8).toString("hex")}`;
    const file = { kind: feed.kind, path, isGzip: feed.path.endsWith(".gz"), digest };
    const parts = filePartsOf(services, { thread, row }, file, (summary) => Object.assign(imported, summary));
    imported.size = (await blobs.put(imported.blob, parts, { maxBytes: FILE_MAX })).size;
  });
  if (result.status !== "read") {
    // A file that disappears from a mirror takes nothing away.
    const state = result.status === "missing" && row.blob === "" ? "missing" : "current";
    await set(services, row, { ...checked, state });
    return;
  }
  const { etag, last_modified } = result;
  await set(services, row, {
    ...checked,
    ...imported,
    etag,
    last_modified,
    state: "current",
    imported_at: clock.iso(),
  });
  if (row.blob !== "") await blobs.delete(row.blob);
}

/** The line `sha256:` of a .meta file. */
function digestIn(meta: string | null): string | null {
  const match = meta === null ? null : /^sha256:([0-9a-f]{64})\s*$/im.exec(meta);
  return match?.[1]?.toLowerCase() ?? null;
}

/** The bytes of the feed's reference file; notes now and then how much of the feed was read. */
async function* filePartsOf(
  services: Services,
  { thread, row }: Pick<Import, "thread" | "row">,
  feed: FeedFile,
  finished: (summary: FeedSummary) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let notedAt = performance.now();
  await thread.call("open", feed);
  for await (const { bytes, read } of ahead(partsOf(thread, finished))) {
    yield bytes;
    if (performance.now() - notedAt < NOTE_EVERY) continue;
    notedAt = performance.now();
    await set(services, row, { bytes_read: read });
  }
}

/** Until the next part is taken from here, the thread reads nothing. */
async function* partsOf(
  thread: Import["thread"],
  finished: (summary: FeedSummary) => void,
): AsyncGenerator<{ readonly bytes: Uint8Array; readonly read: number }, void, undefined> {
  for (;;) {
    const { bytes, read, summary } = await thread.call("next").catch(asFeedError);
    if (summary !== null) finished(summary);
    if (bytes === null) return;
    yield { bytes, read };
  }
}

function asFeedError(error: unknown): never {
  throw error instanceof ThreadError && error.kind === FeedError.name ? new FeedError(error.message) : error;
}

/** Files of imports that did not end, and of feeds that are no longer read. */
async function removeUnusedFiles({ blobs, store, clock }: Services, rows: readonly FeedRow[]): Promise<void> {
  const names = new Set(feedsAt(clock.now()).map(({ name }) => name));
  const old = rows.filter(({ name }) => !names.has(name));
  const used = new Set(rows.filter(({ name }) => names.has(name)).map(({ blob }) => blob));
  const unused: string[] = [];
  for await (const key of blobs.list(BLOB_PREFIX)) if (!used.has(key)) unused.push(key);
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
