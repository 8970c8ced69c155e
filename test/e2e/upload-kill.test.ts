// An upload through the built server: what it has acknowledged survives kill -9, and the client continues by itself.
import { createHash, randomBytes } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import { type BenchServer, signIn, tokenOf } from "../../bench/support/serve.ts";
import type { UploadSource } from "../../src/api/bodies.ts";
import type { Upload } from "../../src/api/platform/uploads.ts";
import { ApiClient } from "../../src/client/client.ts";
import { killedEngines } from "../support/engines.ts";
import { freshDatabase } from "../support/postgres.ts";
import { build, newFolder, serve } from "./support/svc.ts";

beforeAll(build);

const MiB = 1024 * 1024;
const PIECE = 8 * MiB;

it.each(killedEngines)("an upload survives kills of the server (%s)", { timeout: 180_000 }, async (engine) => {
  const database = engine === "postgres" ? await freshDatabase() : null;
  const dataDir = newFolder();
  const start = (port?: number) =>
    serve({
      dataDir,
      ...(port === undefined ? {} : { port }),
      env: database === null ? {} : { SVC_DATABASE_URL: database.url },
    });
  let server: BenchServer = await start();
  const port = Number(new URL(server.url).port);
  const call = await signIn(server);
  const received = async () => (await call<{ uploads: Upload[] }>("GET", "/uploads")).uploads[0]?.received;

  const content = randomBytes(26 * MiB);
  const kills = [5 * MiB, 15 * MiB, 25 * MiB];
  const source: UploadSource = {
    name: "editor.pkg",
    size: content.length,
    canRepeat: true,
    async *open(from) {
      for (let at = from ?? 0; at < content.length; at += MiB) {
        yield content.subarray(at, at + MiB);
        // The first reading, without a position, is for the digest.
        if (from === undefined || kills[0] === undefined || at + MiB < kills[0]) continue;
        kills.shift();
        const acknowledged = Math.floor((at + MiB) / PIECE) * PIECE;
        await expect.poll(received).toBe(acknowledged);
        await server.stop("SIGKILL");
        server = await start(port);
        expect(await received()).toBe(acknowledged);
      }
    },
  };
  const client = new ApiClient({ serverUrl: server.url, token: await tokenOf(server) });
  const upload = await client.upload(source);
  expect(upload.received).toBe(content.length);
  expect(kills).toEqual([]);
  const { upload: stored } = await call<{ upload: Upload }>("GET", `/uploads/${upload.id}`);
  expect(stored).toMatchObject({
    received: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
  });
  await database?.drop();
});
