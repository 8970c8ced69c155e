// Blobs in an S3-compatible bucket. Large contents are uploaded in parts, and become visible only when all of them
// have arrived. The address is set by whoever hosts the server, as the database's is, so the rules for requests to
// URLs that users configure do not apply.
import { createHash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import {
  BlobDiffers,
  type Blobs,
  BlobsMisconfigured,
  BlobsUnavailable,
  BlobTooLarge,
  type ByteRange,
  checkKey,
  isKey,
  NoSuchBlob,
} from "./blobs.ts";
import type { BucketAddress } from "./bucket-url.ts";
import { partsOf } from "./parts.ts";

export interface BucketOptions extends BucketAddress {
  /** Null: the standard places, such as AWS_ACCESS_KEY_ID or the role of the machine. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
  /** The values of `LIMITS` can be lowered for tests. */
  readonly limits?: Partial<typeof LIMITS>;
}

const LIMITS = {
  connectMs: 2_000,
  /** For requests without content, with all their attempts. */
  answerMs: 5_000,
  /** For the request that joins the parts: servers may copy the whole content. */
  joinMs: 120_000,
  /** Without a single byte. */
  silenceMs: 20_000,
  attempts: 4,
  /** Time between checks of a bucket that works, and of one that does not. */
  checkMs: 60_000,
  recheckMs: 5_000,
};

/** Every download to a slow client occupies a connection for a long time, and must not delay other requests. */
const sockets = { keepAlive: true, maxSockets: 2_000 };
/** Bytes of content that must at least pass in a second. */
const SLOWEST = 100_000;
const PART_BYTES = 8 * 1024 * 1024;
/** No server accepts more (80 GiB). */
const MAX_PARTS = 10_000;
/** A download continues this often after an interruption; progress starts the count again. */
const MAX_RESUMES = 3;
const UPLOAD_ID = "svc-upload";
const PROBE = ".svc-check";

export function s3Blobs(options: BucketOptions): Blobs {
  const { bucket, prefix, endpoint, region, pathStyle, credentials } = options;
  const limits = { ...LIMITS, ...options.limits };
  const place = `s3://${bucket}/${prefix}${endpoint === null ? "" : ` at ${new URL(endpoint).host}`}`;
  // Users cannot act on the notice that later versions of the library need a newer Node: see docs/dependencies.md.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";
  const client = new S3Client({
    ...(endpoint === null ? {} : { endpoint }),
    ...(region === null ? {} : { region }),
    ...(credentials === null ? {} : { credentials }),
    forcePathStyle: pathStyle,
    maxAttempts: limits.attempts,
    requestHandler: { connectionTimeout: limits.connectMs, httpAgent: sockets, httpsAgent: sockets },
    // Other vendors' servers refuse Amazon's newer checksums. The signature covers the SHA-256 of every body.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  const known = { problem: null as string | null, at: performance.now(), isChecking: false };
  const failed = (error: unknown): Error => {
    // The next call of `problem` finds out whether it lasts.
    known.at = Number.NEGATIVE_INFINITY;
    return explained(error, place);
  };
  const where = (key: string) => ({ Bucket: bucket, Key: prefix + key });
  const within = (milliseconds: number) => ({ abortSignal: AbortSignal.timeout(milliseconds) });
  const soon = () => within(limits.answerMs);
  const forBytes = (bytes: number) => within(limits.answerMs + Math.ceil((bytes / SLOWEST) * 1_000));
  const asked = <R>(work: Promise<R>): Promise<R> =>
    work.catch((error: unknown) => {
      throw failed(error);
    });

  const headOf = (key: string) =>
    client.send(new HeadObjectCommand(where(key)), soon()).catch((error: unknown) => {
      if (statusOf(error) === 404) return null;
      throw failed(error);
    });

  async function putWhole(key: string, bytes: Uint8Array): Promise<void> {
    const body = { Body: bytes, ContentLength: bytes.length };
    await asked(client.send(new PutObjectCommand({ ...where(key), ...body }), forBytes(bytes.length)));
  }

  /** Begins an upload in parts. */
  async function startUpload(key: string) {
    const mark = randomUUID();
    const created = await asked(
      client.send(new CreateMultipartUploadCommand({ ...where(key), Metadata: { [UPLOAD_ID]: mark } }), soon()),
    );
    const upload = { ...where(key), UploadId: created.UploadId };
    const parts: { PartNumber: number; ETag: string | undefined }[] = [];
    return {
      async add(bytes: Uint8Array): Promise<void> {
        const part = { PartNumber: parts.length + 1, Body: bytes, ContentLength: bytes.length };
        const { ETag } = await asked(
          client.send(new UploadPartCommand({ ...upload, ...part }), forBytes(bytes.length)),
        );
        parts.push({ PartNumber: part.PartNumber, ETag });
      },
      async finish(): Promise<void> {
        try {
          const request = { ...upload, MultipartUpload: { Parts: parts } };
          await client.send(new CompleteMultipartUploadCommand(request), within(limits.joinMs));
        } catch (error) {
          // An earlier attempt, whose answer was lost, may have succeeded.
          if (nameOf(error) === "NoSuchUpload" && (await headOf(key))?.Metadata?.[UPLOAD_ID] === mark) return;
          throw failed(error);
        }
      },
      /** If this fails, the upload is removed by `removeUnfinished`. */
      async abort(): Promise<void> {
        await client.send(new AbortMultipartUploadCommand(upload), soon()).catch(() => undefined);
      },
    };
  }

  /** Null: the blob has no byte in the range. */
  async function open(key: string, range: ByteRange | undefined, etag?: string) {
    const request = {
      ...where(key),
      ...(range ? { Range: `bytes=${range.start}-${range.end ?? ""}` } : {}),
      ...(etag === undefined ? {} : { IfMatch: etag }),
    };
    try {
      const { Body, ETag, ContentLength } = await client.send(new GetObjectCommand(request), soon());
      return { content: Body as Readable, etag: ETag, size: ContentLength ?? null };
    } catch (error) {
      if (statusOf(error) === 416) return null;
      if (nameOf(error) === "NoSuchKey" || nameOf(error) === "NotFound") throw new NoSuchBlob(key);
      throw failed(error);
    }
  }

  /** Reads the content to its end, and continues after interruptions where they happened. */
  function resuming(key: string, start: number, first: NonNullable<Awaited<ReturnType<typeof open>>>): Readable {
    let current = first.content;
    async function* bytes() {
      let done = 0;
      let resumes = 0;
      while (true) {
        try {
          for await (const chunk of unlessSilent(current, limits.silenceMs)) {
            done += chunk.length;
            resumes = 0;
            yield chunk;
          }
          if (first.size === null || done >= first.size) return;
          throw new Error(`the content ended after ${done} of ${first.size} bytes`);
        } catch (error) {
          current.destroy();
          const { size, etag } = first;
          if (stream.destroyed || done === size) return;
          if (resumes++ >= MAX_RESUMES || etag === undefined || size === null) throw failed(error);
          const rest = await open(key, { start: start + done, end: start + size - 1 }, etag);
          if (rest === null || rest.etag !== etag) throw failed(error);
          current = rest.content;
        }
      }
    }
    const source = bytes();
    // Not `Readable.from`, which would wait for the next bytes before it ends the connection.
    const stream = new Readable({
      highWaterMark: 256 * 1024,
      read() {
        source.next().then(
          ({ done, value }) => stream.push(done ? null : value),
          (error: Error) => stream.destroy(error),
        );
      },
      destroy(error, done) {
        current.destroy();
        done(error);
      },
    });
    return stream;
  }

  async function check(): Promise<void> {
    try {
      const list = { Bucket: bucket, Prefix: prefix, MaxKeys: 1 };
      await asked(client.send(new ListObjectsV2Command(list), soon()));
      // A name of its own: several servers may check at the same time.
      const probe = `${PROBE}-${randomUUID()}`;
      await putWhole(probe, Buffer.from("svc checks that it can store files\n"));
      await asked(client.send(new DeleteObjectCommand(where(probe)), soon()));
      known.problem = null;
    } catch (error) {
      known.problem = (error as Error).message;
      throw error;
    } finally {
      known.at = performance.now();
    }
  }

  return {
    place,

    async put(key, content, { maxBytes, sha256: wanted }) {
      checkKey(key);
      const hash = createHash("sha256");
      let size = 0;
      let count = 0;
      let upload: Awaited<ReturnType<typeof startUpload>> | null = null;
      // One part is sent while the next one is collected.
      let sending: Promise<void> = Promise.resolve();
      const measured = async function* () {
        for await (const chunk of content) {
          size += chunk.length;
          if (size > maxBytes) throw new BlobTooLarge(maxBytes);
          hash.update(chunk);
          yield chunk;
        }
      };
      try {
        for await (const { bytes, isLast } of partsOf(measured(), PART_BYTES)) {
          await sending;
          if (++count > MAX_PARTS) throw new BlobTooLarge(MAX_PARTS * PART_BYTES);
          if (isLast) {
            const sha256 = hash.digest("hex");
            if (wanted !== undefined && sha256 !== wanted) throw new BlobDiffers(key, wanted, sha256);
            if (upload === null) await putWhole(key, bytes);
            else {
              await upload.add(bytes);
              await upload.finish();
            }
            return { size, sha256 };
          }
          upload ??= await startUpload(key);
          sending = upload.add(bytes);
          // Awaited with the next part; until then a failure is not unhandled.
          sending.catch(() => undefined);
        }
        throw new Error("the parts have no end");
      } catch (error) {
        await sending.catch(() => undefined);
        await upload?.abort();
        throw error;
      }
    },

    async get(key, range) {
      checkKey(key);
      const first = await open(key, range);
      return first === null ? Readable.from([]) : resuming(key, range?.start ?? 0, first);
    },

    localPath: () => null,

    async stat(key) {
      checkKey(key);
      const head = await headOf(key);
      return head && { size: head.ContentLength ?? 0, modified: head.LastModified ?? new Date(0) };
    },

    async delete(key) {
      checkKey(key);
      // The server answers the same whether or not the object existed.
      if ((await headOf(key)) === null) return false;
      await asked(client.send(new DeleteObjectCommand(where(key)), soon()));
      return true;
    },

    async *list(start = "") {
      let token: string | undefined;
      do {
        const request = { Bucket: bucket, Prefix: prefix + start, ContinuationToken: token };
        const page = await asked(client.send(new ListObjectsV2Command(request), soon()));
        for (const { Key = "" } of page.Contents ?? []) {
          const key = Key.slice(prefix.length);
          // A bucket may have other objects too.
          if (isKey(key)) yield key;
        }
        token = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
    },

    async removeUnfinished(before) {
      let removed = 0;
      let marker: { KeyMarker?: string; UploadIdMarker?: string } | null = {};
      while (marker !== null) {
        const request: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({
          Bucket: bucket,
          Prefix: prefix,
          ...marker,
        });
        const page = await client.send(request, soon()).catch((error: unknown) => {
          // Such servers end uploads by rules of their own.
          if (statusOf(error) === 501) return null;
          throw failed(error);
        });
        for (const { Key = "", UploadId, Initiated } of page?.Uploads ?? []) {
          if (!isKey(Key.slice(prefix.length)) || Initiated === undefined || Initiated >= before) continue;
          const upload = { Bucket: bucket, Key, UploadId };
          await asked(client.send(new AbortMultipartUploadCommand(upload), soon()));
          removed++;
        }
        marker = page?.IsTruncated
          ? {
              ...(page.NextKeyMarker === undefined ? {} : { KeyMarker: page.NextKeyMarker }),
              ...(page.NextUploadIdMarker === undefined ? {} : { UploadIdMarker: page.NextUploadIdMarker }),
            }
          : null;
      }
      return removed;
    },

    check,

    problem() {
      const age = performance.now() - known.at;
      if (!known.isChecking && age > (known.problem === null ? limits.checkMs : limits.recheckMs)) {
        known.isChecking = true;
        void check()
          .catch(() => undefined)
          .finally(() => {
            known.isChecking = false;
          });
      }
      return known.problem;
    },

    async close() {
      client.destroy();
    },
  };
}

/** Fails if no byte arrives for too long: the connection may be dead without an error. */
async function* unlessSilent(content: Readable, milliseconds: number): AsyncGenerator<Buffer> {
  const wait = () => setTimeout(() => content.destroy(new Error("the server sends nothing")), milliseconds);
  let timer = wait();
  try {
    for await (const chunk of content) {
      // A slow reader is no silence of the server.
      clearTimeout(timer);
      yield chunk as Buffer;
      timer = wait();
    }
  } finally {
    clearTimeout(timer);
  }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "");

function statusOf(error: unknown): number {
  const metadata = (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata;
  return metadata?.httpStatusCode ?? 0;
}

/** What only the administrator of the bucket or of this server can correct. */
const REFUSALS: Readonly<Record<string, string>> = {
  NoSuchBucket: "the bucket does not exist",
  InvalidAccessKeyId: "the access key is unknown there",
  SignatureDoesNotMatch: "the secret access key is wrong",
  AccessDenied: "the access key is not allowed to do this",
  PermanentRedirect: "the bucket is in another region",
  AuthorizationHeaderMalformed: "the region is wrong",
  CredentialsProviderError: "there are no credentials",
  ExpiredToken: "the credentials have expired",
};

/** The original error contains the whole request with its signature, so it is neither passed on nor logged. */
function explained(error: unknown, place: string): Error {
  if (error instanceof BlobsUnavailable) return error;
  const refusal = REFUSALS[nameOf(error)] ?? (statusOf(error) === 403 ? REFUSALS.AccessDenied : undefined);
  if (refusal !== undefined) return new BlobsMisconfigured(`${place}: ${refusal} (${nameOf(error)})`);
  return new BlobsUnavailable(`${place} cannot be reached: ${reasonOf(error)}`);
}

function reasonOf(error: unknown): string {
  const status = statusOf(error);
  if (status > 0) return `it answers ${status} ${nameOf(error)}`;
  if (["AbortError", "TimeoutError"].includes(nameOf(error))) return "it does not answer in time";
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return error instanceof Error ? error.message : String(error);
}
