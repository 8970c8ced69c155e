// A file of 512 MiB in pieces, over connections that break at random, through the built server on both stores: the
// growth of its memory. The server compares the digests.
import { randomBytes, randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { uploadsApi } from "../src/api/platform/uploads.ts";
import { uploadSource } from "../src/cli/files/upload.ts";
import { ApiClient } from "../src/client/client.ts";
import { startCuttingProxy } from "../test/support/cutting-proxy.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { watchMemory } from "./support/memory.ts";
import { type BenchServer, startServe, tokenOf } from "./support/serve.ts";

const MiB = 1024 * 1024;

export async function run(args: readonly string[]): Promise<void> {
  const size = Number(args[0] ?? 512) * MiB;
  for (const engine of ["lowdb", "postgres"] as const) {
    const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
    const postgres = engine === "postgres" ? await startPostgres() : null;
    try {
      const server = await startServe({ dataDir: dir, env: postgres ? { SVC_DATABASE_URL: postgres.url() } : {} });
      console.log(`${engine.padEnd(9)} ${await measure(server, dir, size)}`);
      await server.stop();
    } finally {
      await postgres?.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  }
}

async function measure(server: BenchServer, dir: string, size: number): Promise<string> {
  const proxy = await startCuttingProxy(Number(new URL(server.url).port));
  const token = await tokenOf(server);
  const clientAt = (serverUrl: string) => new ApiClient({ serverUrl, token, sleep: () => pause(20) });
  // A small file first, so that the code that the server loads for its first upload does not count as growth.
  await clientAt(server.url).upload(await written(join(dir, "small"), 32 * MiB));
  await pause(2_000);

  const source = await written(join(dir, "large"), size);
  const watch = watchMemory(server);
  const from = performance.now();
  const plain = await clientAt(server.url).upload(source);
  const seconds = (performance.now() - from) / 1000;
  const grown = watch.peak();

  await clientAt(server.url).call(uploadsApi.remove, { params: { id: plain.id } });
  proxy.bytesUntilCut = () => randomInt(MiB, 64 * MiB);
  const { received } = await clientAt(proxy.url).upload(source);
  const after = watch.stop();
  proxy.close();
  if (received !== size) throw new Error(`only ${received} bytes have arrived`);
  const mb = (bytes: number) => (bytes / 1e6).toFixed(0);
  return (
    `${mb(size)} MB at ${mb(size / seconds)} MB/s with the digest of both sides, memory at most ${mb(grown)} MB more ` +
    `(RSS ${mb(watch.before)} MB before); with ${proxy.cuts} cuts at most ${mb(after)} MB more`
  );
}

async function written(path: string, size: number) {
  const file = await open(path, "w");
  for (let at = 0; at < size; at += MiB) await file.write(randomBytes(MiB));
  await file.close();
  return uploadSource({ inBytes: async function* () {} }, path, "FILE");
}
