// API tokens of contexts, in the operating system's keyring or in a file that only the user can read.
import { join } from "node:path";
import { ownOf } from "../../text/record.ts";
import { configDir } from "../files/paths.ts";
import { openPrivate } from "../files/private-file.ts";
import type { Io, Keyring } from "../io.ts";

export type TokenPlace = "keyring" | "file";
type TokenIo = Pick<Io, "env" | "keyring">;

/** Limit in milliseconds: a keyring may wait for a person to unlock it, and there may be none. */
const keyringTimeout = 3000;
let stuck = false;
/** Whether a keyring call never returned. It keeps the process alive, so the process must exit explicitly. */
export const keyringIsStuck = (): boolean => stuck;

function inTime<T>(call: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stuck = true;
      reject(new Error("the keyring does not respond"));
    }, keyringTimeout);
    call.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

async function systemKeyring(): Promise<Keyring> {
  // Native code, loaded only when a token is read or saved.
  const keytar = await import("@napi-rs/keyring/keytar.js");
  const service = "svc";
  return {
    get: async (account) => (await keytar.getPassword(service, account)) ?? null,
    set: (account, secret) => keytar.setPassword(service, account, secret),
    delete: async (account) => void (await keytar.deletePassword(service, account)),
  };
}

const keyringOff = ({ env }: TokenIo) => ["off", "0", "false", "no"].includes((env.SVC_KEYRING ?? "").toLowerCase());

async function keyringOf(io: TokenIo): Promise<Keyring> {
  if (keyringOff(io)) throw new Error("the keyring is turned off (SVC_KEYRING)");
  return io.keyring ?? (await systemKeyring());
}

export const tokenFile = (env: Io["env"]): string => join(configDir(env), "tokens.json");
const openFile = (env: Io["env"]) => openPrivate<Record<string, string>>(tokenFile(env), {});

/** Saves a token; returns where it is stored, and if not in the keyring, why. */
export async function saveToken(
  io: TokenIo,
  account: string,
  token: string,
): Promise<{ place: TokenPlace; why?: string }> {
  try {
    const keyring = await keyringOf(io);
    await inTime(keyring.set(account, token));
    // Some keyrings report success without storing the token.
    if ((await inTime(keyring.get(account))) !== token) throw new Error("the keyring did not store the token");
    await dropFromFile(io.env, account);
    return { place: "keyring" };
  } catch (error) {
    const db = await openFile(io.env);
    await db.update((tokens) => {
      tokens[account] = token;
    });
    return keyringOff(io) ? { place: "file" } : { place: "file", why: error instanceof Error ? error.message : "" };
  }
}

export async function readToken(io: TokenIo, account: string, place: TokenPlace): Promise<string | null> {
  if (place === "file") return ownOf((await openFile(io.env)).data, account) ?? null;
  return inTime((await keyringOf(io)).get(account));
}

export async function dropToken(io: TokenIo, account: string, place: TokenPlace): Promise<void> {
  if (place === "file") return dropFromFile(io.env, account);
  await inTime((await keyringOf(io)).delete(account));
}

async function dropFromFile(env: Io["env"], account: string): Promise<void> {
  const db = await openFile(env);
  if (!Object.hasOwn(db.data, account)) return;
  await db.update((tokens) => {
    delete tokens[account];
  });
}

/**
 * The reason why no keyring can be used here, or null; for `svc doctor`. Tests reads and writes, because some
 * keyrings refuse only writes.
 */
export async function probeKeyring(io: TokenIo): Promise<string | null> {
  try {
    const keyring = await keyringOf(io);
    await inTime(keyring.set("svc doctor", "probe"));
    const kept = await inTime(keyring.get("svc doctor"));
    await inTime(keyring.delete("svc doctor"));
    return kept === "probe" ? null : "the keyring does not store values";
  } catch (error) {
    return error instanceof Error ? error.message : "no keyring";
  }
}
