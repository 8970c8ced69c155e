// What the `db` commands do, each from opening to closing.
import { verifyChain } from "./activities/verify.ts";
import { createCipher } from "./core/cipher.ts";
import { systemClock } from "./core/clock.ts";
import { service } from "./core/context.ts";
import { createLog } from "./core/log.ts";
import { isFilled, knownKey, type OpenedPlace, openDataPlace, type PlaceOptions, pendingAt } from "./places.ts";
import { type KeyRotated, type RotateKey, rotateKey } from "./rotate-key.ts";
import { secretColumns } from "./store/key-rotation.ts";
import { eq, isNull, not } from "./store/query.ts";
import { backup } from "./store/tools/backup.ts";
import { type CheckResult, checkStore } from "./store/tools/check.ts";
import { copyStore, type Progress, requireEmpty } from "./store/tools/copy.ts";
import { restore, verifyBackup } from "./store/tools/restore.ts";

import { tables } from "./tables.ts";
import { recordEdit } from "./users/edits.ts";

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
  using(where, async ({ store }) => {
    const found = await checkStore(store, { onTable });
    const { problem } = await verifyChain(store);
    if (problem === null) return found;
    return { ...found, problems: [...found.problems, `activities: ${problem.kind}: ${problem.detail}`] };
  });

/** Values that are sealed with the server key. */
export const countSecrets = (where: Where): Promise<number> =>
  using(where, async ({ store }) => {
    let count = 0;
    for (const [key, table] of Object.entries(tables))
      for (const column of secretColumns(table))
        count += await store[key as keyof typeof tables].count(not(isNull(column)));
    return count;
  });

export const rotateKeyOf = (
  where: Where,
  options: Pick<RotateKey, "newKey" | "keepOld">,
  onProgress: NonNullable<RotateKey["onProgress"]>,
): Promise<KeyRotated> => rotateKey({ ...where, ...options, onProgress });

/** For who cannot sign in because no mail arrives; gives whether it was on, null where nobody has the address. */
export const disableMfa = (where: Where, email: string, { dryRun }: { dryRun: boolean }): Promise<boolean | null> =>
  using(where, ({ store: all }) =>
    all.tx(
      async (store) => {
        const user = await store.users.first({ where: eq("email", email.trim().toLowerCase()) });
        if (!user) return null;
        if (!user.mfa_enabled || dryRun) return user.mfa_enabled;
        const updated_at = systemClock.iso();
        await store.users.update({ where: eq("id", user.id), set: { mfa_enabled: false, updated_at } });
        await recordEdit({ store, clock: systemClock, user: service }, user);
        return true;
      },
      { lock: "users" },
    ),
  );

/** The names of the migrations that were applied. */
export async function migrateData(where: Where): Promise<string[]> {
  const applied: string[] = [];
  await using({ ...where, migrate: true, onMigrated: (titles) => void applied.push(...titles) }, async () => {});
  return applied;
}

export const pendingOf = ({ place }: Where): Promise<string[]> => pendingAt(place);

export const backupData = (where: Where, file: string, onProgress: OnProgress) =>
  using(where, (from) => backup({ ...from, file, now: new Date(), onProgress }));

export const restoreData = (where: Where, file: string, onProgress: OnProgress) =>
  using({ ...where, create: true, migrate: true }, (into) => restore({ ...into, file, onProgress }));

/** What a restore would bring, after all its checks; nothing is written, and no key is made. */
export async function checkRestore(where: Where, file: string): Promise<{ rows: number; created_at: string }> {
  const key = await knownKey(where);
  const { head, rows } = await verifyBackup(file, tables, key === null ? null : createCipher(key));
  await mustBeEmpty(where);
  return { rows, created_at: head.created_at };
}

/** What a copy would bring, after all its checks; the target is only read. */
export const checkCopy = (from: Where, to: Where): Promise<CheckResult> =>
  using(from, async ({ store, key }) => {
    await mustBeEmpty({ ...to, key });
    return checkStore(store);
  });

async function mustBeEmpty(where: Where & { key?: Uint8Array }): Promise<void> {
  if (await isFilled(where.place)) await using(where, ({ store }) => requireEmpty(store));
}

/** Copies rows between places; the target seals with the source's key. Blobs stay where they are: with the data directory. */
export const copyData = (from: Where, to: Where, onProgress: OnProgress) =>
  using(from, (source) =>
    using({ ...to, key: source.key, create: true, migrate: true }, (target) =>
      copyStore(source.store, target.store, { onProgress }),
    ),
  );
