// Uploads a file in pieces: each is acknowledged, so an interruption costs one at most.

import { createHash } from "node:crypto";
import type { z } from "zod";
import type { UploadSource } from "../api/bodies.ts";
import { type CreateUpload, REPR_DIGEST, UPLOAD_OFFSET, type Upload, uploadsApi } from "../api/platform/uploads.ts";
import { sha256Field } from "../text/digest-field.ts";
import type { ApiClient, OnSent, PieceSize } from "./client.ts";
import { ApiCallError, Unreachable } from "./errors.ts";
import { bytesBetween, RunningDigest } from "./running-digest.ts";
import { isTlsError } from "./transport.ts";

export interface Wire {
  readonly call: ApiClient["call"];
  /** Waits longer with each attempt. */
  readonly retry: (why: string, attempt: number) => Promise<void>;
  /** Whether chunks are gone when the fourth one after them is requested. */
  readonly reuses: boolean;
  /** What the ways to the server have accepted so far. */
  readonly pieces: PieceSize;
}

/** Below what many proxies accept, which is 100 MB. Each piece costs a round trip and a sync of the server's disk. */
export const PIECE_MAX = 90 * 1024 * 1024;
/** Proxies that accept less than 1 MB are not known. */
const PIECE_MIN = 900 * 1024;
/** The size of the last piece, if it is sent with a digest. */
const LAST_PIECE = 512 * 1024;
/** Attempts without a single byte of progress. */
const MAX_TRIES = 9;
/** A connection counts as broken if it takes no byte for this long. */
const SILENCE_MS = 60_000;

interface Options {
  readonly signal?: AbortSignal;
  readonly onSent?: OnSent;
}
type Begin = Pick<z.input<typeof CreateUpload>, "size" | "sha256" | "modified_at">;

/** A file whose digest is known need not be read twice. */
const knownDigest = (source: UploadSource & { readonly sha256?: string }) =>
  source.sha256 === undefined || source.size === null ? null : { size: source.size, sha256: source.sha256 };

/** The source must be one that can repeat. */
export async function uploadInPieces(wire: Wire, source: UploadSource, options: Options): Promise<Upload> {
  const { size, version } = source;
  const begin = knownDigest(source);
  if (begin !== null || size === null || version === undefined)
    return inPieces(wire, source, begin ?? (await digestOf(source, options.signal)), options);
  const digest = new RunningDigest(source, options.signal);
  const upload = await inPieces(wire, source, { size, modified_at: version.modifiedAt }, options, digest);
  const sha256 = await digest.upTo(size);
  await version.requireSame();
  if (upload.sha256 === sha256) return upload;
  // The server had another file with this name, size and modification time.
  return inPieces(wire, source, { size, sha256 }, options);
}

/** With a running digest, the last piece is sent with the digest of the whole file. */
async function inPieces(
  { call, retry, reuses, pieces }: Wire,
  source: UploadSource,
  begin: Begin,
  { signal, onSent }: Options,
  digest: RunningDigest | null = null,
): Promise<Upload> {
  const { size } = begin;
  let { upload } = await call(uploadsApi.create, { body: { name: source.name, ...begin } }, withSignal(signal));
  const params = { id: upload.id };
  let failures = 0;
  let isKnown = true;
  let isLost = false;
  let last = 0;
  const sendLess = () => {
    pieces.bytes = Math.max(PIECE_MIN, Math.floor(Math.min(pieces.bytes, last) / 3));
  };
  while (upload.received < size) {
    const { received } = upload;
    try {
      if (isKnown) {
        const end = endOf(received, size, pieces.bytes, digest !== null);
        last = end - received;
        await digest?.upTo(received);
        const sha256 = end === size && digest !== null ? await digest.upTo(size) : null;
        if (sha256 !== null) await source.version?.requireSame();
        await sendPiece(call, params, source, { start: received, end, sha256, digest, reuses, signal, onSent });
        upload = { ...upload, received: end, ...(sha256 === null ? {} : { sha256 }) };
      } else {
        ({ upload } = await call(uploadsApi.get, { params }, withSignal(signal)));
        isKnown = true;
      }
      if (upload.received > received) failures = 0;
      // A proxy may also close the connection instead of a reply. A busy server would not take small pieces sooner.
      else if (isLost && failures > 1) sendLess();
    } catch (error) {
      isLost = error instanceof Unreachable;
      const isTooLarge = error instanceof ApiCallError && error.status === 413 && last > PIECE_MIN;
      if (isTooLarge) sendLess();
      const why = isTooLarge ? "a proxy refused the size of the request" : passing(error);
      if (why === null || ++failures >= MAX_TRIES) throw error;
      // A smaller piece need not wait.
      await retry(`${why} after ${received} of ${size} bytes`, isTooLarge ? 0 : failures);
      isKnown = false;
    }
  }
  return upload;
}

/** Where the next piece ends. The last one is small if the digest goes with it, because it is read once more for that. */
function endOf(start: number, size: number, most: number, hasDigest: boolean): number {
  const end = Math.min(start + most, size);
  return hasDigest && end === size && size - start > LAST_PIECE ? size - LAST_PIECE : end;
}

interface Piece {
  readonly start: number;
  readonly end: number;
  /** SHA-256 of the whole file, in hex, to send it with the piece. */
  readonly sha256: string | null;
  /** Updated with the bytes of the piece. */
  readonly digest: RunningDigest | null;
  readonly reuses: boolean;
  readonly signal: AbortSignal | undefined;
  readonly onSent: OnSent | undefined;
}

async function sendPiece(
  call: Wire["call"],
  params: { readonly id: number },
  source: UploadSource,
  { start, end, sha256, digest, reuses, signal, onSent }: Piece,
): Promise<void> {
  const silence = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const heard = (sent: number) => {
    clearTimeout(timer);
    // When all has been sent, the server may need long to join the pieces.
    if (sent < end - start) timer = setTimeout(() => silence.abort(new Silence()), SILENCE_MS);
  };
  heard(0);
  const open = () => bytesBetween(source, { start, end, digest, reuses });
  const body = { name: "", size: end - start, canRepeat: true, open };
  try {
    await call(
      uploadsApi.append,
      { params, body },
      {
        headers: {
          [UPLOAD_OFFSET]: String(start),
          ...(sha256 === null ? {} : { [REPR_DIGEST]: sha256Field(sha256) }),
        },
        signal: signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]),
        onSent(sent) {
          heard(sent);
          onSent?.(start + sent, source.size);
        },
      },
    );
  } finally {
    clearTimeout(timer);
  }
}

class Silence extends Error {}

/** What has happened, if it may pass; null if a repetition would fail too. */
function passing(error: unknown): string | null {
  if (error instanceof Silence) return "the connection is silent";
  if (error instanceof Unreachable && !isTlsError(error.code)) return "the connection was lost";
  if (error instanceof ApiCallError && [408, 409, 429, 502, 503, 504].includes(error.status))
    return `the server replied with status ${error.status}`;
  return null;
}

/** Size and SHA-256 digest (in hex) of the whole file. */
export async function digestOf(source: UploadSource, signal?: AbortSignal) {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of source.open(undefined, true)) {
    signal?.throwIfAborted();
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: hash.digest("hex") };
}

const withSignal = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });
