// A bootstrap package up and down, through the built server on both stores: the growth of its memory.
// `npm run bench -- bootstrap [MB] [lowdb|postgres]`; the whole size is `npm run bench -- bootstrap 5120`.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startPostgres } from "../test/support/postgres-server.ts";
import { xar } from "../test/support/xar.ts";
import { turnAppleOn } from "./support/apple.ts";
import { watchMemory } from "./support/memory.ts";
import { type BenchServer, startServe } from "./support/serve.ts";

const MiB = 1024 * 1024;
const BOUNDARY = "package-of-a-benchmark";

export async function run(args: readonly string[]): Promise<void> {
  const only = args.find((arg) => arg === "lowdb" || arg === "postgres");
  const size = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 1024);
  for (const engine of ["lowdb", "postgres"] as const) {
    if (only !== undefined && only !== engine) continue;
    const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
    const postgres = engine === "postgres" ? await startPostgres() : null;
    try {
      const server = await startServe({
        dataDir: dir,
        args: ["--dev-license"],
        env: postgres ? { SVC_DATABASE_URL: postgres.url() } : {},
      });
      console.log(`${engine.padEnd(9)} ${await measure(server, size)}`);
      await server.stop();
    } finally {
      await postgres?.destroy();
      rmSync(dir, { recursive: true, force: true });
    }
  }
}

async function measure(server: BenchServer, size: number): Promise<string> {
  const { headers = {} } = await turnAppleOn(server);
  // A small package first, so that the code that the server loads for it does not count as growth.
  await upload(server, headers, 32);
  await download(server, headers);
  await checked(await server.send("/api/v1/svc/bootstrap/0", { method: "DELETE", headers }));
  await pause(2_000);

  const watch = watchMemory(server);
  const started = performance.now();
  const sent = await upload(server, headers, size);
  const up = (performance.now() - started) / 1000;
  const grown = watch.peak();
  const from = performance.now();
  const received = await download(server, headers);
  const down = (performance.now() - from) / 1000;
  const after = watch.stop();
  if (received !== sent) throw new Error("the download differs from what was sent");
  const mb = (bytes: number) => (bytes / 1e6).toFixed(0);
  const speed = (seconds: number) => `${mb((size * MiB) / seconds)} MB/s`;
  return (
    `${size} MiB: up at ${speed(up)}, memory at most ${mb(grown)} MB more (RSS ${mb(watch.before)} MB before); ` +
    `down at ${speed(down)}, at most ${mb(after)} MB more; digests equal`
  );
}

type Headers = Readonly<Record<string, string>>;

/** Returns the digest. */
async function upload(server: BenchServer, headers: Headers, size: number): Promise<string> {
  const hash = createHash("sha256");
  const block = Buffer.alloc(MiB, "contents of a package ");
  async function* body() {
    yield Buffer.from(
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="package"; filename="setup.pkg"\r\ncontent-type: application/octet-stream\r\n\r\n`,
    );
    const head = xar();
    hash.update(head);
    yield head;
    for (let i = 0; i < size; i++) {
      block.writeUInt32BE(i);
      hash.update(block);
      yield Buffer.from(block);
    }
    yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
  }
  const type = `multipart/form-data; boundary=${BOUNDARY}`;
  const init = { method: "POST", headers: { ...headers, "content-type": type }, body: body(), duplex: "half" } as const;
  await checked(await server.send("/api/v1/svc/bootstrap", init));
  return hash.digest("hex");
}

/** Returns the digest. */
async function download(server: BenchServer, headers: Headers): Promise<string> {
  const described = await checked(await server.send("/api/v1/svc/bootstrap/0/metadata", { headers }));
  const { token, sha256 } = (await described.json()) as { token: string; sha256: string };
  const reply = await checked(await server.send(`/api/v1/svc/bootstrap?token=${token}`));
  const hash = createHash("sha256");
  for await (const chunk of reply.body!) hash.update(chunk as Uint8Array);
  const digest = hash.digest("hex");
  if (digest !== sha256) throw new Error("the digest that the server has computed is another");
  return digest;
}

async function checked(reply: Awaited<ReturnType<BenchServer["send"]>>) {
  if (!reply.ok) throw new Error(`${reply.url}: ${reply.status} ${await reply.text()}`);
  return reply;
}
