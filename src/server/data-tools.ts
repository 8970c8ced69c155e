// Implementation of the `db` commands, including opening and closing of the stores.
import { join } from "node:path";
import { recordEdit } from "./accounts/users/edits.ts";
import {
  isFilled,
  isUrl,
  knownKey,
  mustBePlace,
  type OpenedPlace,
  openBlobsAt,
  openDataPlace,
  type PlaceOptions,
  pendingAt,
} from "./data-places.ts";
import { verifyChain } from "./platform/activities/verify.ts";
import { systemClock } from "./platform/core/clock.ts";
import { service } from "./platform/core/context.ts";
import { createLog } from "./platform/core/logging/log.ts";
import { bringServerKey } from "./platform/core/security/server-key.ts";
import type { Tables } from "./platform/core/tables.ts";
import type { Blobs } from "./platform/store/blobs/blobs.ts";
import { createCipher, WrongKey } from "./platform/store/cipher.ts";
import { secretColumns } from "./platform/store/key-rotation.ts";
import { eq, isNull, not } from "./platform/store/query.ts";
import { backup } from "./platform/store/tools/backup.ts";
import { type CheckResult, checkStore } from "./platform/store/tools/check.ts";
import { copyStore, type Progress, requireEmpty } from "./platform/store/tools/copy.ts";
import { type BlobsCopied, type CopyBlobsOptions, copyBlobs } from "./platform/store/tools/copy-blobs.ts";
import { readHead, restore, verifyBackup } from "./platform/store/tools/restore.ts";
import { type KeyRotated, type RotateKey, rotateKey } from "./rotate-key.ts";
import { tables } from "./tables.ts";

type Where = Pick<PlaceOptions, "place" | "dataDir" | "blobs" | "env">;
type OnProgress = (progress: Progress) => void;
type OnBlob = NonNullable<CopyBlobsOptions["onProgress"]>;

const log = () => createLog({ level: "warn", format: "auto" });

async function using<R>(options: Omit<PlaceOptions, "log">, work: (opened: OpenedPlace) => Promise<R>): Promise<R> {
  const opened = await openDataPlace({ ...options, log: log() });
  try {
    return await work(opened);
  } finally {
    await opened.blobs.close();
    await opened.store.close();
  }
}

export const checkData = (where: Where, onTable: (name: string) => void): Promise<CheckResult> =>
  using(where, async ({ store }) => {
    const checked = await checkStore(store, { onTable });
    const { problem } = await verifyChain(store);
    if (problem === null) return checked;
    return { ...checked, problems: [...checked.problems, `activities: ${problem.kind}: ${problem.detail}`] };
  });

/** Counts the values that are encrypted with the server key. */
export const countSecrets = (where: Where): Promise<number> =>
  using(where, async ({ store }) => {
    let count = 0;
    for (const [key, table] of Object.entries(tables))
      for (const column of secretColumns(table)) count += await store[key as keyof Tables].count(not(isNull(column)));
    return count;
  });

export const rotateKeyOf = (
  where: Where,
  options: Pick<RotateKey, "newKey" | "keepOld">,
  onProgress: NonNullable<RotateKey["onProgress"]>,
): Promise<KeyRotated> => rotateKey({ ...where, ...options, onProgress });

/**
 * Helps a user who cannot sign in because no mail arrives. Returns whether MFA was on, or null if no user has this
 * address.
 */
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

/** Returns the names of the migrations that were applied. */
export async function migrateData(where: Where): Promise<string[]> {
  const applied: string[] = [];
  await using({ ...where, migrate: true, onMigrated: (titles) => void applied.push(...titles) }, async () => {});
  return applied;
}

export const pendingOf = ({ place }: Where): Promise<string[]> => pendingAt(place);

export const backupData = (where: Where, file: string, onProgress: OnProgress) =>
  using({ ...where, beside: true }, (from) => backup({ ...from, file, now: new Date(), onProgress }));

/**
 * The id of the key that the backup's secrets are encrypted with, and whether the target has no key, so that one must
 * be supplied.
 */
export async function keyForRestore(where: Where, file: string): Promise<{ keyId: string; isMissing: boolean }> {
  const { key_id: keyId } = await readHead(file);
  return { keyId, isMissing: (await knownKey(where)) === null };
}

/** Runs all checks first, so that a refused restore leaves the target unchanged. */
async function readyToRestore(where: Where & { key?: Uint8Array }, file: string) {
  const key = where.key ?? (await knownKey(where));
  if (key === null) throw new WrongKey("there is no server key");
  const verified = await verifyBackup(file, tables, createCipher(key));
  await mustBeEmpty({ ...where, key });
  return { key, verified };
}

export async function restoreData(where: Where & { key?: Uint8Array }, file: string, onProgress: OnProgress) {
  const { key, verified } = await readyToRestore(where, file);
  // Servers that use the database read the key from their data directory.
  if (where.key && isUrl(where.place) && !where.env.SVC_SERVER_PRIVATE_KEY)
    await bringServerKey(where.dataDir, where.key);
  return using({ ...where, key, create: true, migrate: true }, (into) =>
    restore({ ...into, file, verified, onProgress }),
  );
}

/** Runs all checks of a restore and returns what it would restore. Writes nothing. */
export async function checkRestore(
  where: Where & { key?: Uint8Array },
  file: string,
): Promise<{ rows: number; created_at: string }> {
  const { head, rows } = (await readyToRestore(where, file)).verified;
  return { rows, created_at: head.created_at };
}

/** Runs all checks of a copy and returns what it would copy. The target is only read. */
export const checkCopy = (from: Where, to: Where): Promise<CheckResult & { blobs: number }> =>
  using(from, async ({ store, key, blobs }) => {
    await mustBeEmpty({ ...to, key });
    const target = await openBlobsAt(to.blobs ?? join(to.dataDir, "blobs"), to.env);
    const isSamePlace = blobs.place === target.place;
    await target.close();
    return { ...(await checkStore(store)), blobs: isSamePlace ? 0 : await countBlobs(blobs) };
  });

async function countBlobs(blobs: Blobs): Promise<number> {
  let count = 0;
  for await (const _ of blobs.list()) count++;
  return count;
}

async function mustBeEmpty(where: Where & { key?: Uint8Array }): Promise<void> {
  if (await isFilled(where.place)) await using(where, ({ store }) => requireEmpty(store));
}

/** Copies blobs and rows to another place, with secrets encrypted with the source's key. */
export const copyData = (from: Where, to: Where, onProgress: OnProgress, onBlob: OnBlob) =>
  using(from, (source) =>
    using({ ...to, key: source.key, create: true, migrate: true }, async (target) => {
      await requireEmpty(target.store);
      // First the blobs: rows that refer to missing blobs would be worse than blobs without rows.
      const blobs = await copyUnlessSame(source.blobs, target.blobs, onBlob);
      return { ...(await copyStore(source.store, target.store, { onProgress })), ...blobs };
    }),
  );

/** Copies only blobs, between folders and buckets. */
export async function copyOnlyBlobs(from: string, to: string, env: Where["env"], onBlob: OnBlob): Promise<BlobsCopied> {
  await mustBePlace(from);
  const source = await openBlobsAt(from, env);
  try {
    const target = await openBlobsAt(to, env);
    try {
      return await copyUnlessSame(source, target, onBlob);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Returns how many blobs would be copied. */
export async function checkBlobCopy(from: string, env: Where["env"]): Promise<number> {
  await mustBePlace(from);
  const source = await openBlobsAt(from, env);
  return countBlobs(source).finally(() => source.close());
}

async function copyUnlessSame(from: Blobs, to: Blobs, onProgress: OnBlob): Promise<BlobsCopied> {
  return from.place === to.place ? { blobs: 0, present: 0 } : copyBlobs(from, to, { onProgress });
}
