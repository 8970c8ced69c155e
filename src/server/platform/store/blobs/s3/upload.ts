// An upload in parts, which becomes visible when all of them have arrived.
import { randomUUID } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { Bucket } from "./bucket.ts";
import { nameOf } from "./errors.ts";

const UPLOAD_ID = "svc-upload";

export class PartUpload {
  readonly #bucket: Bucket;
  readonly #key: string;
  /** Distinguishes this upload from others of the same key. */
  readonly #mark: string;
  readonly #upload: { readonly Bucket: string; readonly Key: string; readonly UploadId: string | undefined };
  readonly #parts: { PartNumber: number; ETag: string | undefined }[] = [];

  private constructor(bucket: Bucket, key: string, mark: string, uploadId: string | undefined) {
    this.#bucket = bucket;
    this.#key = key;
    this.#mark = mark;
    this.#upload = { ...bucket.where(key), UploadId: uploadId };
  }

  static async start(bucket: Bucket, key: string): Promise<PartUpload> {
    const mark = randomUUID();
    const command = new CreateMultipartUploadCommand({ ...bucket.where(key), Metadata: { [UPLOAD_ID]: mark } });
    const { UploadId } = await bucket.request(bucket.client.send(command, bucket.soon()));
    return new PartUpload(bucket, key, mark, UploadId);
  }

  async add(bytes: Uint8Array): Promise<void> {
    const bucket = this.#bucket;
    const part = { PartNumber: this.#parts.length + 1, Body: bytes, ContentLength: bytes.length };
    const command = new UploadPartCommand({ ...this.#upload, ...part });
    const { ETag } = await bucket.request(bucket.client.send(command, bucket.forBytes(bytes.length)));
    this.#parts.push({ PartNumber: part.PartNumber, ETag });
  }

  async finish(): Promise<void> {
    const bucket = this.#bucket;
    try {
      const command = new CompleteMultipartUploadCommand({
        ...this.#upload,
        MultipartUpload: { Parts: this.#parts },
      });
      await bucket.client.send(command, bucket.within(bucket.limits.joinMs));
    } catch (error) {
      // An earlier attempt, whose answer was lost, may have succeeded.
      if (nameOf(error) === "NoSuchUpload" && (await bucket.headOf(this.#key))?.Metadata?.[UPLOAD_ID] === this.#mark)
        return;
      throw bucket.failed(error);
    }
  }

  /** If this fails, the upload is removed by `removeUnfinished`. */
  async abort(): Promise<void> {
    const { client } = this.#bucket;
    await client.send(new AbortMultipartUploadCommand(this.#upload), this.#bucket.soon()).catch(() => undefined);
  }
}
