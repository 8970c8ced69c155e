// API tokens of contexts: in the operating system's keyring, or in a file that only the user can read.
import { join } from "node:path";
import type { Io, Keyring } from "./io.ts";
import { configDir } from "./paths.ts";
import { openPrivate } from "./private-file.ts";

export type TokenPlace = "keyring" | "file";
type TokenIo = Pick<Io, "env" | "keyring">;

/** A keyring may wait for a person to unlock it, and no person may be there. */
const keyringTimeout = 3000;
let stuck = false;
/** A keyring call that never came back keeps the process alive: it has to be ended by force. */
export const keyringIsStuck = (): boolean => stuck;

function inTime<T>(call: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stuck = true;
      reject(new Error("the keyring does not answer"));
    }, keyringTimeout);
    call.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

async function systemKeyring(): Promise<Keyring> {
  // Native code, loaded only where a token is read or saved.
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
  if (keyringOff(io)) throw new Error("the keyring is switched off (SVC_KEYRING)");
  return io.keyring ?? (await systemKeyring());
}

export const tokenFile = (env: Io["env"]): string => join(configDir(env), "tokens.json");
const openFile = (env: Io["env"]) => openPrivate<Record<string, string>>(tokenFile(env), {});

/** Saves a token and tells where it went, and why it did not go into the keyring. */
export async function saveToken(
  io: TokenIo,
  account: string,
  token: string,
): Promise<{ place: TokenPlace; why?: string }> {
  try {
    const keyring = await keyringOf(io);
    await inTime(keyring.set(account, token));
    // Some keyrings accept and forget.
    if ((await inTime(keyring.get(account))) !== token) throw new Error("the keyring did not keep the token");
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
  if (place === "file") return (await openFile(io.env)).data[account] ?? null;
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

/** Why no keyring can be used here, or null; for `svc doctor`. Some answer reads and refuse writes, so it tries both. */
export async function probeKeyring(io: TokenIo): Promise<string | null> {
  try {
    const keyring = await keyringOf(io);
    await inTime(keyring.set("svc doctor", "probe"));
    const kept = await inTime(keyring.get("svc doctor"));
    await inTime(keyring.delete("svc doctor"));
    return kept === "probe" ? null : "the keyring does not keep what it is given";
  } catch (error) {
    return error instanceof Error ? error.message : "no keyring";
  }
}
