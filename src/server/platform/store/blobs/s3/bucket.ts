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
const SLOWEST_BYTES_PER_SECOND = 100_000;

export class Bucket {
  /** For messages. */
  readonly place: string;
  readonly name: string;
  readonly prefix: string;
  readonly client: S3Client;
  readonly limits: typeof LIMITS;
  readonly #onFailure: () => void;

  /** `onFailure` is called when a request fails. */
  constructor(options: BucketOptions, onFailure: () => void) {
    const { bucket, prefix, endpoint, region, pathStyle, credentials } = options;
    this.name = bucket;
    this.prefix = prefix;
    this.limits = { ...LIMITS, ...options.limits };
    this.place = `s3://${bucket}/${prefix}${endpoint === null ? "" : ` at ${new URL(endpoint).host}`}`;
    this.#onFailure = onFailure;
    // Users cannot act on the notice that later versions of the library need a newer Node: see docs/dependencies.md.
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";
    this.client = new S3Client({
      ...(endpoint === null ? {} : { endpoint }),
      ...(region === null ? {} : { region }),
      ...(credentials === null ? {} : { credentials }),
      forcePathStyle: pathStyle,
      maxAttempts: this.limits.attempts,
      requestHandler: { connectionTimeout: this.limits.connectMs, httpAgent: sockets, httpsAgent: sockets },
      // Other vendors' servers refuse Amazon's newer checksums. The signature covers the SHA-256 of every body.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    });
  }

  /** The object of a key, as requests name it. */
  where(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.name, Key: this.prefix + key };
  }

  /** An option of requests: how long they may take. */
  within(milliseconds: number): { abortSignal: AbortSignal } {
    return { abortSignal: AbortSignal.timeout(milliseconds) };
  }

  /** For requests without content. */
  soon(): { abortSignal: AbortSignal } {
    return this.within(this.limits.answerMs);
  }

  forBytes(bytes: number): { abortSignal: AbortSignal } {
    return this.within(this.limits.answerMs + Math.ceil((bytes / SLOWEST_BYTES_PER_SECOND) * 1_000));
  }

  /** The error to throw for one of the client. */
  failed(error: unknown): Error {
    this.#onFailure();
    return explained(error, this.place);
  }

  /** Waits for a request. Its error is one of this store. */
  request<R>(work: Promise<R>): Promise<R> {
    return work.catch((error: unknown) => {
      throw this.failed(error);
    });
  }

  headOf(key: string): Promise<HeadObjectCommandOutput | null> {
    return this.client.send(new HeadObjectCommand(this.where(key)), this.soon()).catch((error: unknown) => {
      if (statusOf(error) === 404) return null;
      throw this.failed(error);
    });
  }

  async putWhole(key: string, bytes: Uint8Array): Promise<void> {
    const command = new PutObjectCommand({ ...this.where(key), Body: bytes, ContentLength: bytes.length });
    await this.request(this.client.send(command, this.forBytes(bytes.length)));
  }
}
