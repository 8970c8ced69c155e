// `svc db rotate-key`: everything sealed is sealed with another key, then the key file is replaced. It can be broken off anywhere: run again, it goes on.
import { timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { createCipher } from "./core/cipher.ts";
import {
  dropOldServerKey,
  keepNextServerKey,
  newServerKey,
  nextServerKey,
  readServerKey,
  useNextServerKey,
} from "./core/server-key.ts";
import { BadSetting } from "./core/tls.ts";
import { resealPlace } from "./open.ts";
import { isFilled, isUrl, knownKey, type PlaceOptions } from "./places.ts";
import type { Rotation } from "./store/key-rotation.ts";

export interface RotateKey extends Pick<PlaceOptions, "place" | "dataDir" | "env"> {
  /** 32 bytes in base64; null: one is made. */
  readonly newKey: string | null;
  readonly keepOld: boolean;
  readonly onProgress?: Rotation["onProgress"];
}

export interface KeyRotated {
  readonly from: string;
  readonly to: string;
  /** Values that this run has sealed anew. */
  readonly sealed: number;
  /** Whether the data directory's key file was replaced; else the operator's own setting has to be. */
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
  const told = { from: from.keyId, to: to.keyId, file: inFile };
  if (same(current, next)) {
    if (inFile && !keepOld) await dropOldServerKey(dataDir);
    return { ...told, sealed: 0 };
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
  return { ...told, sealed };
}

/** The environment holds the key: nobody but the operator can put another one there, so it has to be the operator's. */
function ownersNext({ newKey }: RotateKey): Uint8Array {
  if (newKey !== null) return readServerKey(newKey);
  throw new BadSetting(
    "the server key is in SVC_SERVER_PRIVATE_KEY: make the new one yourself (openssl rand -base64 32), give it by --new-key-file, and set the variable to it afterwards",
  );
}

/** Kept before anything is sealed with it: a key that is lost takes with it what it sealed. */
async function nextInFile(dataDir: string, current: Uint8Array, { newKey }: RotateKey): Promise<Uint8Array> {
  const pending = await nextServerKey(dataDir);
  const given = newKey === null ? null : readServerKey(newKey);
  if (pending && given && !same(pending, given))
    throw new BadSetting(
      `a change to the key in ${join(dataDir, "server.key.new")} has begun: finish it first, with --generate or that file`,
    );
  const next = pending ?? given ?? newServerKey();
  if (!pending && !same(current, next)) await keepNextServerKey(dataDir, next);
  return next;
}
