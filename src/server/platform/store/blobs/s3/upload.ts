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

/** Begins an upload in parts. */
export async function startUpload(to: Bucket, key: string) {
  const { client, limits, where, within, soon, forBytes, request: requested, failed, headOf } = to;
  const mark = randomUUID();
  const created = await requested(
    client.send(new CreateMultipartUploadCommand({ ...where(key), Metadata: { [UPLOAD_ID]: mark } }), soon()),
  );
  const upload = { ...where(key), UploadId: created.UploadId };
  const parts: { PartNumber: number; ETag: string | undefined }[] = [];
  return {
    async add(bytes: Uint8Array): Promise<void> {
      const part = { PartNumber: parts.length + 1, Body: bytes, ContentLength: bytes.length };
      const { ETag } = await requested(
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
