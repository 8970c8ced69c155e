// Random operation sequences on both engines: `--cycles` sequences (2,000), `--seed` to repeat a run.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { openLowdb } from "../../src/server/platform/store/lowdb/open.ts";
import { openPostgres } from "../../src/server/platform/store/postgres/open.ts";
import { compare, steps } from "../platform/store/differential.ts";
import { testTables } from "../platform/store/tables.ts";
import { testCipher } from "../support/engines.ts";
import { startPostgres } from "../support/postgres-server.ts";
import type { SoakArgs } from "./main.ts";

export async function run(args: SoakArgs): Promise<string> {
  const numRuns = Number(args.cycles ?? 2_000);
  const seed = Number(args.seed ?? Date.now() % 2 ** 31);
  const dir = await mkdtemp(join(tmpdir(), "svc-soak-"));
  const server = await startPostgres();
  const lowdb = await openLowdb({
    tables: testTables,
    dir,
    cipher: testCipher,
    frozen: true,
    snapshotBytes: 1_000_000,
  });
  const url = await server.createDatabase("differential");
  const postgres = await openPostgres({ tables: testTables, url, cipher: testCipher, create: true });
  try {
    const property = fc.asyncProperty(steps, (sequence) => compare([lowdb, postgres], sequence));
    await fc.assert(property, { numRuns, seed });
    return `${numRuns} sequences (seed ${seed}), 0 differences`;
  } finally {
    await Promise.all([lowdb.close(), postgres.close()]);
    await server.destroy();
    await rm(dir, { recursive: true });
  }
}
