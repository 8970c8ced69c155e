// The store of a benchmark's server in this process, and an API caller with its admin's token.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { Agent, fetch, type Response } from "undici";
import type { startServer } from "../../src/server/main.ts";
import { Settings } from "../../src/server/platform/core/settings/settings.ts";
import { makeUser } from "../../test/support/make.ts";
import { startPostgres } from "../../test/support/postgres-server.ts";

export type EngineName = "lowdb" | "postgres";

/**
 * Measures one engine after the other, in the order of `sizes`, or only the one that the arguments name. A number among
 * the arguments replaces the sizes.
 */
export async function onEngines(
  args: readonly string[],
  sizes: Readonly<Record<EngineName, number>>,
  measure: (engine: EngineName, size: number) => Promise<void>,
): Promise<void> {
  const sizeInArgs = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 0);
  const engines = Object.keys(sizes) as EngineName[];
  const only = engines.find((engine) => args.includes(engine));
  for (const engine of only === undefined ? engines : [only]) await measure(engine, sizeInArgs || sizes[engine]);
}

export interface Place {
  readonly settings: Settings;
  /** Updates the planner's statistics, which autovacuum would do within a minute. */
  analyze(): Promise<void>;
  /** CPU seconds that the database has used so far; 0 without one. */
  cpu(): number;
  remove(): Promise<void>;
}

export async function makePlace(engine: EngineName): Promise<Place> {
  const dir = await mkdtemp(join(tmpdir(), "svc-bench-"));
  const database = engine === "postgres" ? await startPostgres({ settings: { shared_buffers: "512MB" } }) : null;
  return {
    settings: Settings.parse({
      data_dir: dir,
      port: 0,
      dev_license: true,
      result_log: "none",
      status_log: "none",
      ...(database ? { database_url: database.url() } : {}),
    }),
    async analyze() {
      if (!database) return;
      const client = new pg.Client({ connectionString: database.url() });
      await client.connect();
      await client.query("VACUUM ANALYZE");
      await client.end();
    },
    cpu: () => database?.cpu() ?? 0,
    async remove() {
      await database?.destroy();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export interface Admin {
  readonly token: string;
  request(path: string, init?: { method: string; body: string }): Promise<Response>;
  /** The text of the reply; throws on any status but 200. */
  get(path: string): Promise<string>;
  close(): Promise<void>;
}

export async function adminOf(
  { services, url }: Awaited<ReturnType<typeof startServer>>,
  { connections }: { connections: number },
): Promise<Admin> {
  const dispatcher = new Agent({ connections });
  const { token } = await makeUser({ ...services, clock: services.clock as never, as: () => ({}) as never }, "admin");
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const request: Admin["request"] = (path, init = undefined) =>
    fetch(new URL(`/api/v1/svc${path}`, url), { ...init, headers, dispatcher });
  return {
    token,
    request,
    async get(path) {
      const res = await request(path);
      const text = await res.text();
      if (res.status !== 200) throw new Error(`${path}: ${res.status} ${text}`);
      return text;
    },
    close: () => dispatcher.close(),
  };
}
