// What the agent remembers of its enrollments.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { readObject, replaceFile } from "./files.ts";

/** `update_key`: what signs updates. */
type KeyName = "node_key" | "agent_node_key" | "update_key";

interface StoredIdentity {
  readonly server_url: string;
  readonly hardware_uuid: string;
  readonly instance_id: string;
  readonly node_key: string | null;
  readonly agent_node_key: string | null;
  readonly update_key: string | null;
  /** Another machine with the same hardware UUID has the host of that UUID: this one enrolls by its instance id. */
  readonly is_separate: boolean;
}

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

export class Keys {
  readonly #path: string;
  /** The machine that the folder was copied from; null: it is that of this machine. */
  readonly copiedFrom: string | null;
  #identity: StoredIdentity;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, identity: StoredIdentity, copiedFrom: string | null) {
    this.#path = path;
    this.copiedFrom = copiedFrom;
    this.#identity = identity;
  }

  /** Keys of another server, or of the machine that this one was cloned from, are forgotten. */
  static async open(stateDir: string, serverUrl: string, hardwareUuid: string): Promise<Keys> {
    const path = join(stateDir, "agent.json");
    const stored = await readObject(path);
    const isSame = stored?.server_url === serverUrl && stored.hardware_uuid === hardwareUuid;
    const identity: StoredIdentity = {
      server_url: serverUrl,
      hardware_uuid: hardwareUuid,
      instance_id: (isSame ? text(stored.instance_id) : null) ?? randomUUID(),
      node_key: isSame ? text(stored.node_key) : null,
      agent_node_key: isSame ? text(stored.agent_node_key) : null,
      update_key: isSame ? text(stored.update_key) : null,
      is_separate: isSame && stored.is_separate === true,
    };
    const otherUuid = text(stored?.hardware_uuid);
    const keys = new Keys(path, identity, otherUuid === hardwareUuid ? null : otherUuid);
    // Unchanged keys are not written, so that the agent starts on a full disk too.
    if (JSON.stringify(keys.#identity) !== JSON.stringify(stored)) await keys.#write();
    return keys;
  }

  get instanceId(): string {
    return this.#identity.instance_id;
  }

  /** The identifier under which both protocols enroll. */
  get identifier(): string {
    return this.#identity.is_separate ? this.#identity.instance_id : this.#identity.hardware_uuid;
  }

  get isSeparate(): boolean {
    return this.#identity.is_separate;
  }

  get(name: KeyName): string | null {
    return this.#identity[name];
  }

  async set(name: KeyName, key: string | null): Promise<void> {
    this.#identity = { ...this.#identity, [name]: key };
    await this.#write();
  }

  /** Forgets the key, unless another call has replaced it in the meantime. */
  async drop(name: KeyName, key: string): Promise<void> {
    if (this.#identity[name] === key) await this.set(name, null);
  }

  /**
   * Forgets the keys of a host that another machine has. `separates`: that machine has the same hardware UUID, so this
   * one gets an identifier of its own.
   */
  async leaveHost(separates: boolean): Promise<void> {
    const separation = separates ? { instance_id: randomUUID(), is_separate: true } : {};
    this.#identity = { ...this.#identity, ...separation, node_key: null, agent_node_key: null };
    await this.#write();
  }

  /** One write at a time, so that the last one is the newest. */
  #write(): Promise<void> {
    const write = () => replaceFile(this.#path, `${JSON.stringify(this.#identity, null, 2)}\n`);
    this.#writing = this.#writing.then(write, write);
    return this.#writing;
  }
}
