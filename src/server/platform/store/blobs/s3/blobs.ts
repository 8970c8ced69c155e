// Blobs in an S3-compatible bucket. Large contents are uploaded in parts, and become visible only when all of them
// have arrived. The address is set by whoever hosts the server, as the database's is, so the rules for requests to
// URLs that users configure do not apply.
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type MultipartUpload,
} from "@aws-sdk/client-s3";
import {
  BlobDiffers,
  type BlobDigest,
  type BlobInfo,
  type Blobs,
  BlobTooLarge,
  type ByteRange,
  checkKey,
  isKey,
  type PutOptions,
} from "../blobs.ts";
import { partsOf } from "../parts.ts";
import { Bucket, type BucketOptions } from "./bucket.ts";
import { statusOf } from "./errors.ts";
import { BucketHealth } from "./health.ts";
import { open, resuming } from "./read.ts";
import { PartUpload } from "./upload.ts";

const PART_BYTES = 8 * 1024 * 1024;
/** No server accepts more (80 GiB). */
const MAX_PARTS = 10_000;

export class S3Blobs implements Blobs {
  readonly growing = null;
  readonly #health = new BucketHealth();
  readonly #bucket: Bucket;

  constructor(options: BucketOptions) {
    this.#bucket = new Bucket(options, () => this.#health.doubt());
  }

  get place(): string {
    return this.#bucket.place;
  }

  async put(
    key: string,
    content: AsyncIterable<Uint8Array>,
    { maxBytes, sha256: expected }: PutOptions,
  ): Promise<BlobDigest> {
    checkKey(key);
    const hash = createHash("sha256");
    let size = 0;
    let count = 0;
    let upload: PartUpload | null = null;
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
          if (expected !== undefined && sha256 !== expected) throw new BlobDiffers(key, expected, sha256);
          if (upload === null) await this.#bucket.putWhole(key, bytes);
          else {
            await upload.add(bytes);
            await upload.finish();
          }
          return { size, sha256 };
        }
        upload ??= await PartUpload.start(this.#bucket, key);
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
  }

  async get(key: string, range?: ByteRange): Promise<Readable> {
    checkKey(key);
    const first = await open(this.#bucket, key, range);
    return first === null ? Readable.from([]) : resuming(this.#bucket, key, range?.start ?? 0, first);
  }

  localPath(): null {
    return null;
  }

  async checkRoom(): Promise<void> {}

  async stat(key: string): Promise<BlobInfo | null> {
    checkKey(key);
    const head = await this.#bucket.headOf(key);
    return head && { size: head.ContentLength ?? 0, modified: head.LastModified ?? new Date(0) };
  }

  async delete(key: string): Promise<boolean> {
    checkKey(key);
    const bucket = this.#bucket;
    // The server answers the same whether or not the object existed.
    if ((await bucket.headOf(key)) === null) return false;
    await bucket.request(bucket.client.send(new DeleteObjectCommand(bucket.where(key)), bucket.soon()));
    return true;
  }

  async *list(start = ""): AsyncGenerator<string> {
    const { client, name, prefix } = this.#bucket;
    let token: string | undefined;
    do {
      const command = new ListObjectsV2Command({ Bucket: name, Prefix: prefix + start, ContinuationToken: token });
      const page = await this.#bucket.request(client.send(command, this.#bucket.soon()));
      for (const { Key = "" } of page.Contents ?? []) {
        const key = Key.slice(prefix.length);
        // A bucket may have other objects too.
        if (isKey(key)) yield key;
      }
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  async removeUnfinished(before: Date): Promise<number> {
    const bucket = this.#bucket;
    let removed = 0;
    for await (const { Key = "", UploadId, Initiated } of this.#unfinishedUploads()) {
      if (!isKey(Key.slice(bucket.prefix.length)) || Initiated === undefined || Initiated >= before) continue;
      const command = new AbortMultipartUploadCommand({ Bucket: bucket.name, Key, UploadId });
      await bucket.request(bucket.client.send(command, bucket.soon()));
      removed++;
    }
    return removed;
  }

  check(): Promise<void> {
    return this.#health.check(this.#bucket);
  }

  problem(): string | null {
    return this.#health.problem(this.#bucket);
  }

  async close(): Promise<void> {
    this.#bucket.client.destroy();
  }

  async *#unfinishedUploads(): AsyncGenerator<MultipartUpload> {
    const { client, name, prefix } = this.#bucket;
    let marker: { KeyMarker?: string; UploadIdMarker?: string } | null = {};
    while (marker !== null) {
      const command: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({
        Bucket: name,
        Prefix: prefix,
        ...marker,
      });
      const page = await client.send(command, this.#bucket.soon()).catch((error: unknown) => {
        // Servers that do not list uploads end them by rules of their own.
        if (statusOf(error) === 501) return null;
        throw this.#bucket.failed(error);
      });
      yield* page?.Uploads ?? [];
      marker = page?.IsTruncated
        ? {
            ...(page.NextKeyMarker === undefined ? {} : { KeyMarker: page.NextKeyMarker }),
            ...(page.NextUploadIdMarker === undefined ? {} : { UploadIdMarker: page.NextUploadIdMarker }),
          }
        : null;
    }
  }
}
