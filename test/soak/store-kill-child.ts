// A process with many writers that prints what was acknowledged, until it is killed.
import { writeSync } from "node:fs";
import { realFiles, type StoreFiles } from "../../src/server/platform/store/lowdb/files.ts";
import { openLowdb } from "../../src/server/platform/store/lowdb/open.ts";
import { openPostgres } from "../../src/server/platform/store/postgres/open.ts";
import { id, int, table, text } from "../../src/server/platform/store/table.ts";
import { testCipher } from "../support/engines.ts";

export const killTables = {
  entries: table("k_entries", { id: id(), key: text().unique(), filler: text() }),
  counters: table("k_counters", { id: id(), writer: int().unique(), count: int() }),
};

/** A deliberately defective file: reports that bytes are written and synced before they are. */
const acknowledgeFirst: StoreFiles = {
  ...realFiles,
  async create(path) {
    const file = await realFiles.create(path);
    return { ...later(file), close: () => file.close() };
  },
  async open(path) {
    const file = await realFiles.open(path);
    return { ...later(file), close: () => file.close() };
  },
};

function later(file: Awaited<ReturnType<StoreFiles["create"]>>): typeof file {
  return {
    async write(bytes, position) {
      const copy = Buffer.from(bytes);
      setTimeout(() => void file.write(copy, position), 20);
    },
    sync: async () => {},
    truncate: (size) => file.truncate(size),
    close: () => file.close(),
  };
}

export async function openKillStore(place: string, isMutant = false) {
  if (place.startsWith("postgres"))
    return openPostgres({ tables: killTables, url: place, cipher: testCipher, create: true, poolSize: 16 });
  const files = isMutant ? acknowledgeFirst : realFiles;
  return openLowdb({ tables: killTables, dir: place, cipher: testCipher, files, snapshotBytes: 200_000 });
}

const WRITERS = 32;

async function main(place: string, cycle: string, mutant: string | undefined): Promise<void> {
  const store = await openKillStore(place, mutant === "mutant");
  writeSync(1, "ready\n");
  const writer = async (number: number): Promise<never> => {
    for (let i = 1; ; i++) {
      const key = `${cycle}-${number}-${i}`;
      // Two rows that belong together: both or neither.
      await store.tx(async (tx) => {
        await tx.entries.insert({ key, filler: "x".repeat((i * 37) % 400) });
        await tx.counters.upsert([{ writer: number, count: i }], { on: ["writer"] });
      });
      writeSync(1, `${key}\n`);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, i) => writer(i)));
}

const [, script, place, cycle, mutant] = process.argv;
if (script?.endsWith("store-kill-child.ts")) await main(place!, cycle!, mutant);
