// `npm run test:soak -- api-fuzz [--requests 100000] [--seed N] [--store lowdb|postgres]`: generated requests over a
// socket, on both stores unless one is given. No 5xx, no reply that differs from its declaration, no unhandled
// rejection.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { Agent, fetch } from "undici";
import { startServer } from "../../src/server/main.ts";
import { Settings } from "../../src/server/platform/core/settings/settings.ts";
import { type FuzzReport, runFuzz } from "../support/fuzz-run.ts";
import { fuzzWorld } from "../support/fuzz-world.ts";
import { startPostgres } from "../support/postgres-server.ts";
import type { SoakArgs } from "./main.ts";

export async function run(args: SoakArgs): Promise<string> {
  const requests = Number(args.requests ?? 100_000);
  const seed = Number(args.seed ?? Date.now() % 2 ** 31);
  const stores = args.store === undefined ? ["lowdb", "postgres"] : [args.store];
  const rejections: unknown[] = [];
  const reject = (reason: unknown) => void rejections.push(reason);
  process.on("unhandledRejection", reject);
  try {
    const told: string[] = [];
    for (const store of stores) {
      const share = Math.ceil(requests / stores.length);
      const { faults, byStatus } = await fuzzServer(store, share, seed);
      if (faults.length > 0) throw new Error(`${store}: ${faults.length} faults\n${faults.join("\n")}`);
      if (rejections.length > 0) throw new Error(`${store}: unhandled rejection`, { cause: rejections[0] });
      told.push(`${share} on ${store} ${JSON.stringify(byStatus)}`);
    }
    return `seed ${seed}: ${told.join("; ")}`;
  } finally {
    process.off("unhandledRejection", reject);
  }
}

async function fuzzServer(store: string, requests: number, seed: number): Promise<FuzzReport> {
  const dir = await mkdtemp(join(tmpdir(), "svc-fuzz-"));
  const database = store === "postgres" ? await startPostgres() : null;
  const settings = Settings.parse({
    data_dir: dir,
    port: 0,
    dev_license: true,
    result_log: "none",
    status_log: "none",
    ...(database ? { database_url: database.url() } : {}),
  });
  const server = await startServer(settings, pino({ level: "silent" }));
  const dispatcher = new Agent({ connections: 4 });
  try {
    const world = fuzzWorld({
      ...server.services,
      clock: server.services.clock as never,
      // Only the tokens of the created users are needed here.
      as: () => ({}) as never,
    });
    return await runFuzz(
      {
        ...world,
        async send({ method, path, body, headers }, token) {
          const res = await fetch(new URL(path, server.url), {
            method,
            headers: { ...headers, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
            ...(body === undefined ? {} : { body }),
            dispatcher,
          });
          return new Response(res.status === 204 ? null : await res.text(), { status: res.status });
        },
      },
      requests,
      seed,
    );
  } finally {
    await dispatcher.close();
    await server.stop();
    await database?.destroy();
    await rm(dir, { recursive: true, force: true });
  }
}
