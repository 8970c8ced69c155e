// Encrypts the disk of Windows when the server asks for it, and gives the server a recovery password.
import { randomBytes } from "node:crypto";
import type { Log } from "../options.ts";
import { NoKey } from "./luks.ts";
import { type PowerShell, powerShell } from "./powershell.ts";
import { conversions, EncryptableVolume, protectors, type Volume } from "./volume.ts";

/** How the recovery passwords of this agent are named. Those of others stay. */
const OWN = "svc-agent ";
/** Windows chooses the algorithm: that of a policy, or its own default. */
const METHOD_OF_POLICY = 0;
/** Only what is in use; new data is encrypted when it is written. */
const USED_SPACE_ONLY = 1;
/** GetProtectionStatus. */
const PROTECTED = 1;
/** After a failure. */
const RETRY_MS = 60 * 60_000;

/** Without one of these, Windows would not start from an encrypted disk. */
const STARTS_WINDOWS: readonly number[] = [
  ...[protectors.tpm, protectors.tpmAndPin, protectors.tpmAndKey, protectors.tpmPinAndKey],
];

export type BitlockerAction = "encrypt" | "rotate";

export interface BitlockerServer {
  deliverBitlocker(data: { readonly encryption_key: string } | { readonly client_error: string }): Promise<void>;
}

interface Parts {
  readonly server: BitlockerServer;
  readonly log: Log;
  readonly run?: PowerShell;
  readonly now?: () => number;
}

/** What has to be done before there is a recovery password to give away. Throws `NoKey`: it cannot be done. */
export function stepsFor(
  volume: Volume | null,
  desired: BitlockerAction,
): readonly ("wait" | "protect" | "encrypt" | "enable" | "resume")[] {
  if (volume === null) throw new NoKey("this edition of Windows has no BitLocker for its disk");
  if (volume.isLocked) throw new NoKey("the disk is locked");
  switch (volume.conversion) {
    case conversions.decrypting:
    case conversions.decryptionPaused:
      // Decryption could be stopped, but somebody wants it.
      return ["wait"];
    case conversions.encrypted:
      // Suspended protectors open the disk to everybody.
      return volume.protection === PROTECTED ? [] : [...toStart(volume), "enable"];
    case conversions.encrypting:
      return [];
    case conversions.encryptionPaused:
      return ["resume"];
    default: {
      if (desired === "rotate") throw new NoKey("the disk is not encrypted");
      return [...toStart(volume), "encrypt"];
    }
  }
}

/** What is missing to start Windows from the encrypted disk. */
function toStart({ protectors, hasTpm }: Volume): readonly "protect"[] {
  if (protectors.some(({ type }) => STARTS_WINDOWS.includes(type))) return [];
  if (!hasTpm) throw new NoKey("this machine has no TPM that is ready, which starts Windows without a key");
  return ["protect"];
}

export class Bitlocker {
  readonly #parts: Required<Parts>;
  readonly #volume: EncryptableVolume;
  #running: Promise<void> | null = null;
  #notBefore = 0;
  #isWaiting = false;

  constructor(parts: Parts) {
    this.#parts = { run: powerShell, now: Date.now, ...parts };
    this.#volume = new EncryptableVolume(this.#parts.run);
  }

  /** Begins, unless it runs, or has failed within the last hour: the server asks until it has a key. */
  start(action: BitlockerAction): Promise<void> {
    if (this.#running === null && this.#parts.now() < this.#notBefore) return Promise.resolve();
    this.#running ??= this.#run(action).finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #run(action: BitlockerAction): Promise<void> {
    const { server, log, now } = this.#parts;
    try {
      const volume = await this.#volume.read();
      const steps = stepsFor(volume, action);
      const isWaiting = steps.includes("wait");
      if (isWaiting && !this.#isWaiting) log("info", "disk encryption: waits until the disk has been decrypted");
      this.#isWaiting = isWaiting;
      if (!isWaiting) await this.#carryOut(volume!, steps);
    } catch (error) {
      const { message } = error as Error;
      log("warn", `disk encryption: ${message}`);
      this.#notBefore = now() + RETRY_MS;
      if (error instanceof NoKey) await server.deliverBitlocker({ client_error: message }).catch(() => {});
    }
  }

  async #carryOut(volume: Volume, steps: readonly string[]): Promise<void> {
    const { server, log } = this.#parts;
    const call: EncryptableVolume["call"] = (method, parameters) => this.#volume.call(method, parameters);
    const isNew = steps.includes("encrypt");
    if (steps.includes("protect")) await call("ProtectKeyWithTPM");
    const { id } = await call("ProtectKeyWithNumericalPassword", {
      FriendlyName: OWN + randomBytes(4).toString("hex"),
    });
    const remove = () => call("DeleteKeyProtector", { VolumeKeyProtectorID: id });
    try {
      const { password } = await call("GetKeyProtectorNumericalPassword", { VolumeKeyProtectorID: id });
      if (!/^\d{6}(-\d{6}){7}$/.test(password)) throw new NoKey("BitLocker returned no recovery password");
      // Encrypted before the server has the key: if the agent ends in between, the server asks again, and gets a new
      // one.
      if (isNew) {
        await call("Encrypt", { EncryptionMethod: METHOD_OF_POLICY, EncryptionFlags: USED_SPACE_ONLY });
        log("info", "disk encryption: Windows encrypts the disk");
      } else if (steps.includes("resume")) await call("ResumeConversion");
      else if (steps.includes("enable")) {
        await call("EnableKeyProtectors");
        log("info", "disk encryption: the disk was encrypted without protection, which is on again");
      }
      await server.deliverBitlocker({ encryption_key: Buffer.from(password).toString("base64") });
    } catch (error) {
      // A key that nobody has must not stay, unless it is the only one.
      const others = volume.protectors.some(({ type }) => type === protectors.recoveryPassword);
      if (others || !isNew) await remove().catch(() => {});
      throw error;
    }
    log("info", "disk encryption: the server has a recovery password");
    for (const old of volume.protectors)
      if (old.type === protectors.recoveryPassword && old.name.startsWith(OWN))
        await call("DeleteKeyProtector", { VolumeKeyProtectorID: old.id });
  }
}
