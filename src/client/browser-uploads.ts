// Uploads a file from a browser in pieces: its progress is known, an interruption costs one piece at most, and no more
// than a piece of it is in memory.

import { UPLOAD_OFFSET, type Upload, uploadsApi } from "../api/platform/uploads.ts";
import { type BrowserClient, sentFile } from "./browser-client.ts";
import { ApiCallError, Unreachable } from "./errors.ts";
import { pause } from "./pause.ts";

const MiB = 1024 * 1024;
const FIRST_PIECE = MiB;
const LARGEST_PIECE = 16 * MiB;
/** Proxies that accept less are not known. */
const SMALLEST_PIECE = 512 * 1024;
/** Each piece is to take about this long, so that the progress is seen. */
const PIECE_MS = 1_000;
/** Attempts without a single byte of progress. */
const MAX_TRIES = 6;
const PASSING_STATUSES: readonly number[] = [408, 409, 429, 502, 503, 504];

interface UploadOptions {
  readonly signal?: AbortSignal;
  /** Called with the session as it is, after each piece. */
  readonly onProgress?: (upload: Upload) => void;
  readonly sleep?: typeof pause;
}

/** The file cannot be read any more: it was changed, moved or deleted since the user has chosen it. */
export class FileGone extends Error {
  constructor(name: string, cause: unknown) {
    super(`${name} cannot be read any more: it was changed, moved or deleted. Choose it again.`, { cause });
    this.name = "FileGone";
  }
}

/** Returns the complete session. An earlier session for the same file is continued. */
export async function uploadFile(client: BrowserClient, file: File, options: UploadOptions = {}): Promise<Upload> {
  const { signal, onProgress, sleep = pause } = options;
  const call = signal === undefined ? {} : { signal };
  const begin = { name: file.name, size: file.size, modified_at: new Date(file.lastModified).toISOString() };
  let { upload } = await client.call(uploadsApi.create, { body: begin }, call);
  const params = { id: upload.id };
  let pieceSize = FIRST_PIECE;
  let failures = 0;
  onProgress?.(upload);
  while (upload.received < upload.size) {
    signal?.throwIfAborted();
    const { received } = upload;
    const piece = await read(file, received, pieceSize);
    try {
      const began = performance.now();
      const headers = { [UPLOAD_OFFSET]: String(received) };
      await client.call(uploadsApi.append, { params, body: sentFile(piece) }, { ...call, headers });
      upload = { ...upload, received: received + piece.size };
      pieceSize = nextSize(pieceSize, performance.now() - began);
      failures = 0;
    } catch (error) {
      signal?.throwIfAborted();
      const isTooLarge = error instanceof ApiCallError && error.status === 413 && pieceSize > SMALLEST_PIECE;
      if ((!isTooLarge && !mayPass(error)) || ++failures >= MAX_TRIES) throw error;
      pieceSize = Math.max(SMALLEST_PIECE, Math.floor(pieceSize / 3));
      await sleep(waitAfter(error, failures), signal);
      upload = await current(client, upload, call);
    }
    onProgress?.(upload);
  }
  return upload;
}

/** What has arrived: of a lost piece perhaps a part. The next piece finds out whether the server still does not reply. */
async function current(client: BrowserClient, upload: Upload, call: { signal?: AbortSignal }): Promise<Upload> {
  try {
    return (await client.call(uploadsApi.get, { params: { id: upload.id } }, call)).upload;
  } catch (error) {
    if (mayPass(error)) return upload;
    throw error;
  }
}

/** A file that was changed is read here, because a failed request would not say why it has failed. */
async function read(file: File, start: number, size: number): Promise<Blob> {
  try {
    return new Blob([await file.slice(start, start + size).arrayBuffer()]);
  } catch (error) {
    throw new FileGone(file.name, error);
  }
}

function nextSize(size: number, ms: number): number {
  const factor = Math.min(2, Math.max(0.5, PIECE_MS / Math.max(1, ms)));
  return Math.min(LARGEST_PIECE, Math.max(SMALLEST_PIECE, Math.floor(size * factor)));
}

const mayPass = (error: unknown): boolean =>
  error instanceof Unreachable || (error instanceof ApiCallError && PASSING_STATUSES.includes(error.status));

const waitAfter = (error: unknown, failures: number): number =>
  error instanceof ApiCallError && error.retryAfter !== undefined
    ? error.retryAfter * 1_000
    : 500 * 2 ** (failures - 1);
