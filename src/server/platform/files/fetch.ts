// Files that the server downloads itself, from addresses that users or catalogues name.
import { createHash } from "node:crypto";
import { hours, minutes, seconds } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { paced } from "../core/http/bodies/paced.ts";
import { fetchOutbound, OutboundError, type OutboundReply } from "../core/outbound/fetch.ts";
import type { ServerTx } from "../core/tables.ts";
import { BlobDiffers } from "../store/blobs/blobs.ts";
import { eq } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import { downloadName } from "./names.ts";
import { filesOf, inUploadSlot, keepFile } from "./service.ts";
import type { files } from "./tables.ts";

type FileRow = RowOf<typeof files>;
type Deps = Pick<Services, "blobs" | "clock" | "random" | "running" | "dryRun"> & { readonly store: ServerTx };

/** The file could not be downloaded. The message may be shown to users: it names the host only. */
export class DownloadError extends Error {
  readonly isTemporary: boolean;

  constructor(message: string, isTemporary = false) {
    super(message);
    this.isTemporary = isTemporary;
  }
}

interface FileRequest {
  readonly url: string;
  readonly maxBytes: number;
  /** A file with another digest is refused. */
  readonly sha256?: string | undefined;
  readonly signal?: AbortSignal;
  /** How long 10 KB may take; default: a minute. */
  readonly stretchMs?: number;
}

const MAX_ATTEMPTS = 3;
/** Before the second try; twice as long before the third. */
const WAIT = seconds(1);
const TIMEOUT = hours(1);
const MAX_REDIRECTS = 5;
/** Few downloads run at a time: one that trickles must not delay those of all teams. */
const STRETCH_MS = minutes(1);

/**
 * Downloads a file, which is kept for a day, whether something refers to it or not. One with the digest that is stored
 * already is not downloaded again: the digest has to come from somebody who may have the file. Do not call it in a
 * transaction.
 */
export async function fetchFile(services: Deps, request: FileRequest): Promise<FileRow> {
  const { sha256 } = request;
  const stored = sha256 === undefined ? null : await storedFile(services, sha256);
  return stored ?? (await trying(services, () => download(services, request, {}))).row;
}

async function storedFile(services: Deps, sha256: string): Promise<FileRow | null> {
  const id = (await filesOf(services, [sha256])).get(sha256);
  return id === undefined ? null : services.store.files.first({ where: eq("id", id) });
}

/**
 * `fetchFile` that always asks the server of the URL: what it sent last time is not downloaded again if the server
 * confirms that it has not changed.
 */
export async function fetchLatest(
  services: Deps,
  request: FileRequest & { readonly isUnconditional: boolean },
): Promise<{ readonly row: FileRow; readonly name: string }> {
  const { store, clock } = services;
  const url_sha256 = createHash("sha256").update(request.url).digest("hex");
  const origin = request.isUnconditional
    ? null
    : await store.fileOrigins.first({ where: eq("url_sha256", url_sha256) });
  const cached = origin && (await storedFile(services, origin.sha256));
  // A file with another digest than the wanted one is of no use.
  const isUsable = cached && (request.sha256 ?? cached.sha256) === cached.sha256;
  const got = await trying(services, () => download(services, request, isUsable ? { cached, etag: origin!.etag } : {}));
  const { row, headers } = got;
  if (got.isNew) {
    const etag = headers.get("etag") ?? "";
    const name = downloadName(request.url, headers.get("content-disposition"));
    // A weak tag does not promise the same bytes.
    if (/^"[^"]{1,500}"$/.test(etag))
      await store.fileOrigins.upsert([{ url_sha256, etag, sha256: row.sha256, name, asked_at: clock.iso() }], {
        on: ["url_sha256"],
        returning: [],
      });
    return { row, name };
  }
  await store.fileOrigins.update({ where: eq("url_sha256", url_sha256), set: { asked_at: clock.iso() } });
  return { row, name: origin!.name };
}

async function trying<R>({ clock }: Pick<Deps, "clock">, work: () => Promise<R>): Promise<R> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !mayPass(error))
        throw error instanceof OutboundError ? new DownloadError(error.message) : error;
      await clock.sleep(attempt * WAIT);
    }
  }
}

/** Whether the next try may succeed: the server was not reached, or says that it has a problem at the moment. */
const mayPass = (error: unknown): boolean =>
  error instanceof OutboundError
    ? error.reason === "timeout" || error.reason === "unreachable"
    : error instanceof DownloadError && error.isTemporary;

const isTemporary = (status: number): boolean => status >= 500 || status === 408 || status === 429;

interface CachedFile {
  /** What the server has sent before, with its tag. */
  readonly cached?: FileRow;
  readonly etag?: string;
}

type Got = Pick<OutboundReply, "headers"> & { readonly row: FileRow; readonly isNew: boolean };

async function download(
  services: Deps,
  { url, maxBytes, sha256, signal, stretchMs = STRETCH_MS }: FileRequest,
  { cached, etag }: CachedFile,
): Promise<Got> {
  let kept: FileRow | null = null;
  const { hostname } = new URL(url);
  try {
    const { status, headers } = await fetchOutbound(services, url, {
      timeout: TIMEOUT,
      maxBytes,
      redirects: MAX_REDIRECTS,
      ...(signal === undefined ? {} : { signal }),
      ...(etag === undefined ? {} : { headers: { "if-none-match": etag } }),
      async receive(content) {
        const options = { maxBytes, ...(sha256 === undefined ? {} : { sha256 }) };
        const steady = paced(content, stretchMs, {
          slow: () => new OutboundError("timeout", `${hostname} sends too slowly`, true),
          broken: (error) => error,
        });
        kept = (await inUploadSlot(services, () => keepFile(services, steady, options))).row;
      },
    });
    if (kept !== null) return { row: kept, headers, isNew: true };
    if (status === 304 && cached !== undefined) return { row: cached, headers, isNew: false };
    throw new DownloadError(`${hostname} answered with status ${status}`, isTemporary(status));
  } catch (error) {
    if (error instanceof BlobDiffers) throw new DownloadError(`the file of ${hostname} has another SHA-256 digest`);
    throw error;
  }
}
