// `svc db rotate-key`: encrypts all secrets with a new key, then replaces the key file. After an interruption,
// running it again completes the rotation.
import { timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { isFilled, isUrl, knownKey, type PlaceOptions } from "./data-places.ts";
import { resealPlace } from "./open-data.ts";
import {
  dropOldServerKey,
  keepNextServerKey,
  newServerKey,
  nextServerKey,
  readServerKey,
  useNextServerKey,
} from "./platform/core/security/server-key.ts";
import { BadSetting } from "./platform/core/security/tls.ts";
import { createCipher } from "./platform/store/cipher.ts";
import type { Rotation } from "./platform/store/key-rotation.ts";

export interface RotateKey extends Pick<PlaceOptions, "place" | "dataDir" | "env"> {
  /** 32 bytes in base64. Null generates a key. */
  readonly newKey: string | null;
  readonly keepOld: boolean;
  readonly onProgress?: Rotation["onProgress"];
}

export interface KeyRotated {
  readonly from: string;
  readonly to: string;
  /** Number of values that this run encrypted with the new key. */
  readonly sealed: number;
  /** Whether the key file in the data directory was replaced. Otherwise the operator has to change the setting. */
  readonly file: boolean;
}

const same = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);

export async function rotateKey(options: RotateKey): Promise<KeyRotated> {
  const { place, env, keepOld } = options;
  const dataDir = isUrl(place) ? options.dataDir : place;
  if (!(await isFilled(place))) throw new BadSetting(`${place}: there is no store here`);
  const current = await knownKey(options);
  if (current === null) throw new BadSetting(`${join(dataDir, "server.key")}: there is no server key here`);
  const inFile = !env.SVC_SERVER_PRIVATE_KEY;
  const next = inFile ? await nextInFile(dataDir, current, options) : ownersNext(options);
  const [from, to] = [createCipher(current), createCipher(next)];
  const keys = { from: from.keyId, to: to.keyId, file: inFile };
  if (same(current, next)) {
    if (inFile && !keepOld) await dropOldServerKey(dataDir);
    return { ...keys, sealed: 0 };
  }
  const sealed = await resealPlace(isUrl(place) ? { url: place } : { dir: place }, {
    from,
    to,
    ...(options.onProgress ? { onProgress: options.onProgress } : {}),
  });
  if (inFile) {
    await useNextServerKey(dataDir);
    if (!keepOld) await dropOldServerKey(dataDir);
  }
  return { ...keys, sealed };
}

/**
 * The key comes from the environment, which only the operator can change, so the operator has to supply the new key
 * too.
 */
function ownersNext({ newKey }: RotateKey): Uint8Array {
  if (newKey !== null) return readServerKey(newKey);
  throw new BadSetting(
    "the server key is in SVC_SERVER_PRIVATE_KEY: generate a new key (openssl rand -base64 32), pass it with --new-key-file, and set the variable to it afterwards",
  );
}

/** Stores the new key before anything is encrypted with it, because data encrypted with a lost key is lost. */
async function nextInFile(dataDir: string, current: Uint8Array, { newKey }: RotateKey): Promise<Uint8Array> {
  const pending = await nextServerKey(dataDir);
  const nextKey = newKey === null ? null : readServerKey(newKey);
  if (pending && nextKey && !same(pending, nextKey))
    throw new BadSetting(
      `a change to the key in ${join(dataDir, "server.key.new")} was interrupted: finish it first, with --generate or that file`,
    );
  const next = pending ?? nextKey ?? newServerKey();
  if (!pending && !same(current, next)) await keepNextServerKey(dataDir, next);
  return next;
}
