// What the `db` commands do, each from opening to closing.
import { createLog } from "./core/log.ts";
import { type OpenedPlace, openDataPlace, type PlaceOptions } from "./places.ts";
import { backup } from "./store/tools/backup.ts";
import { type CheckResult, checkStore } from "./store/tools/check.ts";
import { copyStore, type Progress } from "./store/tools/copy.ts";
import { restore } from "./store/tools/restore.ts";

type Where = Pick<PlaceOptions, "place" | "dataDir" | "env">;
type OnProgress = (progress: Progress) => void;

const log = () => createLog({ level: "warn", format: "auto" });

async function using<R>(options: Omit<PlaceOptions, "log">, work: (opened: OpenedPlace) => Promise<R>): Promise<R> {
  const opened = await openDataPlace({ ...options, log: log() });
  try {
    return await work(opened);
  } finally {
    await opened.store.close();
  }
}

export const checkData = (where: Where, onTable: (name: string) => void): Promise<CheckResult> =>
  using(where, ({ store }) => checkStore(store, { onTable }));

/** The names of the migrations that were applied. */
export async function migrateData(where: Where): Promise<string[]> {
  const applied: string[] = [];
  await using({ ...where, migrate: true, onMigrated: (titles) => void applied.push(...titles) }, async () => {});
  return applied;
}

export const backupData = (where: Where, file: string, onProgress: OnProgress) =>
  using(where, (from) => backup({ ...from, file, now: new Date(), onProgress }));

export const restoreData = (where: Where, file: string, onProgress: OnProgress) =>
  using({ ...where, create: true, migrate: true }, (into) => restore({ ...into, file, onProgress }));

/** Copies rows between places; the target seals with the source's key. Blobs stay where they are: with the data directory. */
export const copyData = (from: Where, to: Where, onProgress: OnProgress) =>
  using(from, (source) =>
    using({ ...to, key: source.key, create: true, migrate: true }, (target) =>
      copyStore(source.store, target.store, { onProgress }),
    ),
  );
