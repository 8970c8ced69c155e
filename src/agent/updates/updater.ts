// Fetches the newer version that the server offers, and checks that the server has signed it.
import { createPublicKey, verify } from "node:crypto";
import { rm } from "node:fs/promises";
import { type AgentUpdate, isNewer, updateStatement } from "../../agent-wire/update.ts";
import { backoff } from "../net/waits.ts";
import type { Log } from "../options.ts";
import { sha256Of, UpdateFolder } from "./folder.ts";

const MAX_UPDATE_BYTES = 64 * 1024 * 1024;
const FIRST_WAIT_MS = 60_000;
/** Agents wait at random up to this, so that they do not all fetch it at once when the server has been updated. */
const SPREAD_MS = 10 * 60_000;
/** A version that failed, for example while the server was away, is tried again after this. */
const FAILED_MS = 24 * 3_600_000;

export interface UpdaterParts {
  readonly stateDir: string;
  /** The version that runs. */
  readonly version: string;
  /** The SHA-256 of the version that runs; null: it is the installed one. */
  readonly started: string | null;
  /** The server's key, from the enrollment. */
  readonly key: () => string | null;
  /** The agent as one file, of at most so many bytes. */
  readonly fetch: (most: number) => Promise<Uint8Array>;
  readonly scale: number;
  readonly log: Log;
}

export class Updater {
  readonly #parts: UpdaterParts;
  readonly #folder: UpdateFolder;
  #isConfirmed = false;
  #refused = "";
  #failures = 0;
  #nextTry: number;

  constructor(parts: UpdaterParts) {
    this.#parts = parts;
    this.#folder = new UpdateFolder(parts.stateDir);
    this.#nextTry = performance.now() + Math.random() * SPREAD_MS * parts.scale;
  }

  /** The server has accepted this version's call: it stays. */
  async confirm(): Promise<void> {
    if (this.#isConfirmed) return;
    const { started, log, version } = this.#parts;
    const state = await this.#folder.read();
    const { trial } = state;
    if (trial !== null && trial.sha256 === started) {
      const current = { version: trial.version, sha256: trial.sha256 };
      const next = { current, previous: state.current, trial: null, failed: null };
      await this.#folder.write(next);
      await rm(this.#folder.overdueFile, { force: true });
      await this.#folder.prune(next);
      log("info", `updated to ${version}`);
    }
    this.#isConfirmed = true;
  }

  /** True: the agent has to start again, to run the new version. */
  async take(update: AgentUpdate): Promise<boolean> {
    const { log, scale } = this.#parts;
    const reason = this.#reasonAgainst(update);
    if (reason !== null) {
      const whole = `${update.version}: ${reason}`;
      if (this.#refused !== whole) log("error", `update to ${whole}`);
      this.#refused = whole;
      return false;
    }
    if (performance.now() < this.#nextTry) return false;
    try {
      return await this.#fetch(update);
    } catch (error) {
      if (this.#failures++ === 0) log("warn", `update to ${update.version}: ${(error as Error).message}; trying again`);
      this.#nextTry = performance.now() + backoff(this.#failures, FIRST_WAIT_MS) * scale;
      return false;
    }
  }

  #reasonAgainst({ signature, ...update }: AgentUpdate): string | null {
    const { key, version } = this.#parts;
    const updateKey = key();
    if (updateKey === null) return "refused, because the server gave no key for updates when this machine enrolled";
    if (!isNewer(update.version, version)) return `refused, because it is not newer than ${version}`;
    if (!isSignedBy(updateKey, update, signature)) return "refused, because the server's key has not signed it";
    return update.size > 0 && update.size <= MAX_UPDATE_BYTES ? null : `refused, because it has ${update.size} bytes`;
  }

  async #fetch({ version, sha256, size }: AgentUpdate): Promise<boolean> {
    const folder = this.#folder;
    const state = await folder.read();
    const { failed } = state;
    const sinceFailed = Date.now() - (failed?.at ?? 0);
    if (failed?.sha256 === sha256 && sinceFailed >= 0 && sinceFailed < FAILED_MS) return false;
    await folder.prune(state);
    const bytes = await this.#parts.fetch(size);
    if (bytes.length !== size || sha256Of(bytes) !== sha256)
      throw new Error("what the server sent is not what it has signed");
    await folder.keep({ version, sha256 }, bytes);
    await rm(folder.overdueFile, { force: true });
    await folder.write({ ...state, failed: null, trial: { version, sha256, starts: 0 } });
    this.#parts.log("info", `update to ${version}: ends, so that the service starts it`);
    return true;
  }
}

function isSignedBy(key: string, update: Omit<AgentUpdate, "signature">, signature: string): boolean {
  try {
    const publicKey = createPublicKey({ key: Buffer.from(key, "base64"), format: "der", type: "spki" });
    const isSigned = verify(null, updateStatement(update), publicKey, Buffer.from(signature, "base64"));
    return publicKey.asymmetricKeyType === "ed25519" && isSigned;
  } catch {
    return false;
  }
}
