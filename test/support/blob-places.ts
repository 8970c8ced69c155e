// Empty places for blobs, one of each kind. They are removed after the test.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Blobs } from "../../src/server/platform/store/blobs/blobs.ts";
import { fileBlobs } from "../../src/server/platform/store/blobs/files.ts";
import { S3Blobs } from "../../src/server/platform/store/blobs/s3/blobs.ts";
import { afterEveryTest } from "./ends.ts";
import { ACCESS_KEY, BUCKET, startS3 } from "./s3-server.ts";

const undo: (() => unknown)[] = [];
afterEveryTest(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

export const blobKinds = ["folder", "bucket"] as const;

export async function blobsIn(kind: (typeof blobKinds)[number]): Promise<Blobs> {
  if (kind === "folder") {
    const dir = await mkdtemp(join(tmpdir(), "svc-uploads-"));
    undo.push(() => rm(dir, { recursive: true, force: true }));
    return fileBlobs(dir);
  }
  const s3 = await startS3();
  undo.push(() => s3.close());
  const address = { bucket: BUCKET, prefix: "x/", endpoint: s3.url, region: "us-east-1", pathStyle: true };
  const blobs = new S3Blobs({ ...address, credentials: ACCESS_KEY });
  undo.push(() => blobs.close());
  return blobs;
}

export async function keysIn(blobs: Blobs): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of blobs.list()) keys.push(key);
  return keys;
}
