// The connection to a bucket: its client, the time that requests may take, and the requests that several parts need.
import { HeadObjectCommand, type HeadObjectCommandOutput, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import type { BucketAddress } from "../bucket-url.ts";
import { explained, statusOf } from "./errors.ts";

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

export interface Bucket {
  /** For messages. */
  readonly place: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly client: S3Client;
  readonly limits: typeof LIMITS;
  /** The object of a key, as requests name it. */
  where(key: string): { Bucket: string; Key: string };
  /** An option of requests: how long they may take. */
  within(milliseconds: number): { abortSignal: AbortSignal };
  /** For requests without content. */
  soon(): { abortSignal: AbortSignal };
  forBytes(bytes: number): { abortSignal: AbortSignal };
  /** The error to throw for one of the client. */
  failed(error: unknown): Error;
  /** Waits for a request. Its error is one of this store. */
  request<R>(work: Promise<R>): Promise<R>;
  headOf(key: string): Promise<HeadObjectCommandOutput | null>;
  putWhole(key: string, bytes: Uint8Array): Promise<void>;
}

/** `onFailure` is called when a request fails. */
export function openBucket(options: BucketOptions, onFailure: () => void): Bucket {
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
  const failed = (error: unknown): Error => {
    onFailure();
    return explained(error, place);
  };
  const where = (key: string) => ({ Bucket: bucket, Key: prefix + key });
  const within = (milliseconds: number) => ({ abortSignal: AbortSignal.timeout(milliseconds) });
  const soon = () => within(limits.answerMs);
  const forBytes = (bytes: number) => within(limits.answerMs + Math.ceil((bytes / SLOWEST) * 1_000));
  const request = <R>(work: Promise<R>): Promise<R> =>
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
    await request(client.send(new PutObjectCommand({ ...where(key), ...body }), forBytes(bytes.length)));
  }
  return { place, bucket, prefix, client, limits, where, within, soon, forBytes, failed, request, headOf, putWhole };
}
