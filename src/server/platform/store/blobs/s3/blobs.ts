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
} from "@aws-sdk/client-s3";
import { BlobDiffers, type Blobs, BlobTooLarge, checkKey, isKey } from "../blobs.ts";
import { partsOf } from "../parts.ts";
import { type BucketOptions, openBucket } from "./bucket.ts";
import { statusOf } from "./errors.ts";
import { BucketHealth } from "./health.ts";
import { open, resuming } from "./read.ts";
import { startUpload } from "./upload.ts";

const PART_BYTES = 8 * 1024 * 1024;
/** No server accepts more (80 GiB). */
const MAX_PARTS = 10_000;

export function s3Blobs(options: BucketOptions): Blobs {
  const health = new BucketHealth();
  const to = openBucket(options, () => health.doubt());
  const { place, bucket, prefix, client, where, soon, failed, request: requested, headOf, putWhole } = to;
  return {
    place,

    async put(key, content, { maxBytes, sha256: expected }) {
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
            if (expected !== undefined && sha256 !== expected) throw new BlobDiffers(key, expected, sha256);
            if (upload === null) await putWhole(key, bytes);
            else {
              await upload.add(bytes);
              await upload.finish();
            }
            return { size, sha256 };
          }
          upload ??= await startUpload(to, key);
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
      const first = await open(to, key, range);
      return first === null ? Readable.from([]) : resuming(to, key, range?.start ?? 0, first);
    },

    localPath: () => null,

    checkRoom: async () => {},
    growing: null,

    async stat(key) {
      checkKey(key);
      const head = await headOf(key);
      return head && { size: head.ContentLength ?? 0, modified: head.LastModified ?? new Date(0) };
    },

    async delete(key) {
      checkKey(key);
      // The server answers the same whether or not the object existed.
      if ((await headOf(key)) === null) return false;
      await requested(client.send(new DeleteObjectCommand(where(key)), soon()));
      return true;
    },

    async *list(start = "") {
      let token: string | undefined;
      do {
        const request = { Bucket: bucket, Prefix: prefix + start, ContinuationToken: token };
        const page = await requested(client.send(new ListObjectsV2Command(request), soon()));
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
          // Servers that do not list uploads end them by rules of their own.
          if (statusOf(error) === 501) return null;
          throw failed(error);
        });
        for (const { Key = "", UploadId, Initiated } of page?.Uploads ?? []) {
          if (!isKey(Key.slice(prefix.length)) || Initiated === undefined || Initiated >= before) continue;
          const upload = { Bucket: bucket, Key, UploadId };
          await requested(client.send(new AbortMultipartUploadCommand(upload), soon()));
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

    check: () => health.check(to),

    problem: () => health.problem(to),

    async close() {
      client.destroy();
    },
  };
}
