// Uploads a file in pieces: each is acknowledged, so an interruption costs one at most.
import { createHash } from "node:crypto";
import type { UploadSource } from "../api/bodies.ts";
import { UPLOAD_OFFSET, type Upload, uploadsApi } from "../api/uploads.ts";
import type { ApiClient, OnSent } from "./client.ts";
import { ApiCallError, Unreachable } from "./errors.ts";
import { isTlsError } from "./transport.ts";

export interface Wire {
  readonly call: ApiClient["call"];
  /** Waits longer with each attempt. */
  readonly retry: (why: string, attempt: number) => Promise<void>;
}

/** Below what proxies accept: many refuse bodies of more than 100 MB. */
const PIECE_BYTES = 32 * 1024 * 1024;
/** Attempts without a single byte of progress. */
const TRIES = 9;
/** A connection counts as broken if it takes no byte for this long. */
const SILENCE_MS = 60_000;

/** A file whose digest is known need not be read twice. */
const known = (source: UploadSource & { readonly sha256?: string }) =>
  source.sha256 === undefined || source.size === null ? null : { size: source.size, sha256: source.sha256 };

/** The source must be one that can repeat. */
export async function uploadInPieces(
  { call, retry }: Wire,
  source: UploadSource,
  { signal, onSent }: { readonly signal?: AbortSignal; readonly onSent?: OnSent },
): Promise<Upload> {
  const { size, sha256 } = known(source) ?? (await digestOf(source, signal));
  let { upload } = await call(uploadsApi.create, { body: { name: source.name, size, sha256 } }, withSignal(signal));
  const params = { id: upload.id };
  let failures = 0;
  let isKnown = true;
  while (upload.received < size) {
    const { received } = upload;
    try {
      if (isKnown) {
        const end = Math.min(received + PIECE_BYTES, size);
        await sendPiece(call, params, source, { start: received, end, signal, onSent });
        upload = { ...upload, received: end };
      } else {
        ({ upload } = await call(uploadsApi.get, { params }, withSignal(signal)));
        isKnown = true;
      }
      if (upload.received > received) failures = 0;
    } catch (error) {
      const why = passing(error);
      if (why === null || ++failures >= TRIES) throw error;
      await retry(`${why} after ${received} of ${size} bytes`, failures);
      isKnown = false;
    }
  }
  return upload;
}

interface Piece {
  readonly start: number;
  readonly end: number;
  readonly signal: AbortSignal | undefined;
  readonly onSent: OnSent | undefined;
}

async function sendPiece(
  call: Wire["call"],
  params: { readonly id: number },
  source: UploadSource,
  { start, end, signal, onSent }: Piece,
): Promise<void> {
  const silence = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const heard = (sent: number) => {
    clearTimeout(timer);
    // When all has been sent, the server may need long to join the pieces.
    if (sent < end - start) timer = setTimeout(() => silence.abort(new Silence()), SILENCE_MS);
  };
  heard(0);
  const body = { name: "", size: end - start, canRepeat: true, open: () => bytesBetween(source, start, end) };
  try {
    await call(
      uploadsApi.append,
      { params, body },
      {
        headers: { [UPLOAD_OFFSET]: String(start) },
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

async function* bytesBetween(source: UploadSource, start: number, end: number): AsyncGenerator<Uint8Array> {
  let left = end - start;
  for await (const chunk of source.open(start)) {
    yield chunk.subarray(0, left);
    left -= Math.min(left, chunk.length);
    if (left === 0) return;
  }
}

/** Size and SHA-256 digest (in hex) of the whole file. */
export async function digestOf(source: UploadSource, signal?: AbortSignal) {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of source.open()) {
    signal?.throwIfAborted();
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: hash.digest("hex") };
}

const withSignal = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });
