// The two engines for tests: each `open` returns an empty store of its own.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCipher } from "../../src/server/platform/store/cipher.ts";
import { openLowdb } from "../../src/server/platform/store/lowdb/open.ts";
import type { Store, Tables } from "../../src/server/platform/store/store.ts";

export interface OpenedStore<S extends Tables> {
  store: Store<S>;
  /** Closes the store and opens it again with its data. */
  reopen(): Promise<Store<S>>;
  /** Closes the store and deletes its data. */
  close(): Promise<void>;
}

export type EngineName = "lowdb" | "postgres";

/** `npm run test:all`: everything on both engines, and long forms of tests that have one. */
export const isWholeRun = process.env.SVC_TEST === "all";

/** vitest.config.ts sets it: `npm test` runs on the embedded store what `npm run test:rest` runs on Postgres. */
const { SVC_TEST_ENGINE } = process.env;
const ofThisRun = (engines: readonly EngineName[]): readonly EngineName[] =>
  engines.filter((engine) => SVC_TEST_ENGINE === undefined || engine === SVC_TEST_ENGINE);

/** For tests that compare the engines' answers with each other. */
export const comparedEngines: readonly EngineName[] = ["lowdb", "postgres"];

/** Engines for what they do differently: locks and races, SQL of their own, jobs and leases, one walk per feature. */
export const bothEngines: readonly EngineName[] = ofThisRun(["lowdb", "postgres"]);

/**
 * For rules of a feature. Property tests prove that both engines answer alike, so these run on the cheaper one, and on
 * both in a whole run.
 */
export const rulesEngines: readonly EngineName[] = isWholeRun ? bothEngines : ofThisRun(["lowdb"]);

/**
 * For kills of the server: what Postgres has committed survives them anyway, so these are aimed at the embedded store's
 * journal. The long forms are soak tests.
 */
export const killedEngines: readonly EngineName[] = isWholeRun ? bothEngines : ofThisRun(["lowdb"]);

/** How many cases a test tries: enough to notice a mistake, or many in a whole run. */
export const amount = (few: number, many: number): number => (isWholeRun ? many : few);

export interface Engine {
  readonly name: EngineName;
  open<S extends Tables>(tables: S): Promise<OpenedStore<S>>;
}

export const testCipher = createCipher(Buffer.alloc(32, 7));

async function opened<S extends Tables>(
  connect: () => Promise<Store<S>>,
  cleanUp: () => Promise<void>,
): Promise<OpenedStore<S>> {
  const result: OpenedStore<S> = {
    store: await connect(),
    async reopen() {
      await result.store.close();
      result.store = await connect();
      return result.store;
    },
    async close() {
      await result.store.close();
      await cleanUp();
    },
  };
  return result;
}

const lowdb: Engine = {
  name: "lowdb",
  async open(tables) {
    const dir = await mkdtemp(join(tmpdir(), "svc-store-"));
    return opened(
      () => openLowdb({ tables, dir, cipher: testCipher, frozen: true }),
      () => rm(dir, { recursive: true }),
    );
  },
};

const postgres: Engine = {
  name: "postgres",
  async open(tables) {
    const [{ openPostgres }, { freshDatabase }] = await Promise.all([
      import("../../src/server/platform/store/postgres/open.ts"),
      import("./postgres.ts"),
    ]);
    const { url, drop } = await freshDatabase();
    return opened(() => openPostgres({ tables, url, cipher: testCipher, create: true, poolSize: 4 }), drop);
  },
};

export const engines: readonly Engine[] = [lowdb, postgres];
