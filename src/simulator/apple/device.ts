// A simulated Apple device, which speaks only the wire: it enrolls, answers commands, and reports its declarations.
import type { KeyObject } from "node:crypto";
import { readPlistDict } from "../../plist/read.ts";
import { dictIn, type PlistDict, stringIn } from "../../plist/value.ts";
import { writePlist } from "../../plist/write.ts";
import { mix, Random } from "../random.ts";
import { type Authorities, type DeviceIdentity, messageSignature, requestIdentity } from "../scep.ts";
import type { Web } from "../web.ts";
import { actions, CommandRefused, type Doing } from "./commands.ts";
import { type Ask, synchronize } from "./declarations.ts";
import type { EnrollmentProfile } from "./enrollment-profile.ts";
import type { DeviceFacts } from "./facts.ts";
import { type DeviceState, freshState } from "./state.ts";
import type { AppleRequest, AppleStats } from "./stats.ts";

const CHECK_IN = "application/x-apple-aspen-mdm-checkin";
/** Profiles are sent inside of commands. */
const COMMAND_MAX = { bytes: 32 * 1024 * 1024 };

interface DeviceWorld {
  readonly web: Web;
  readonly authorities: Authorities;
  readonly stats: AppleStats;
  readonly seed: number;
  /** The shares of commands that a device postpones, and that fail. */
  readonly notNow: number;
  readonly errors: number;
}

/** Commands that a device does not postpone. */
const urgent: readonly string[] = ["DeviceLock", "EraseDevice"];

export class AppleDevice {
  readonly facts: DeviceFacts;
  state: DeviceState = freshState(false);
  /** Whether the device has postponed a command, so it has to connect again by itself. */
  postpones = false;
  readonly #world: DeviceWorld;
  readonly #random: Random;
  #enrollment: { readonly profile: EnrollmentProfile; readonly identity: DeviceIdentity } | null = null;
  #enrolled = false;
  #hasLeft = false;
  /** Commands that it has done. */
  readonly #done = new Set<string>();
  /** An answer that the server has not accepted yet. */
  #unsent: PlistDict | null = null;
  /** Done when the server has accepted that answer. */
  #afterwards: (() => Promise<void>) | null = null;
  #connecting: Promise<void> | null = null;
  #again = false;

  constructor(world: DeviceWorld, facts: DeviceFacts, index: number) {
    this.#world = world;
    this.facts = facts;
    this.#random = new Random(mix(world.seed, index, 12));
  }

  get isEnrolled(): boolean {
    return this.#enrolled;
  }

  /** Whether the device has been enrolled, and is not any more. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Whether the device has an answer that the server has not accepted. */
  get hasUnsent(): boolean {
    return this.#unsent !== null;
  }

  /** Resolves when it is not connected. */
  async idle(): Promise<void> {
    await this.#connecting;
  }

  /** Gets an identity and checks in. Throws if the server refuses a step. */
  async enroll(
    profile: EnrollmentProfile,
    key: KeyObject,
    { awaitsConfiguration = false }: { awaitsConfiguration?: boolean } = {},
  ): Promise<void> {
    const { web, authorities, stats } = this.#world;
    if (!profile.signsMessages)
      throw new Error("the enrollment profile does not ask for signed messages (SignMessage)");
    const identity = await stats.timed("identity", () => requestIdentity(web, authorities, profile.scep, key));
    this.#enrollment = { profile, identity };
    this.state = freshState(awaitsConfiguration);
    this.#done.clear();
    this.#unsent = null;
    this.#afterwards = null;
    const { product, serial, name, osVersion, build } = this.facts;
    await this.#checkIn("authenticate", "Authenticate", {
      Topic: profile.topic,
      SerialNumber: serial,
      Model: product,
      ProductName: product,
      DeviceName: name,
      OSVersion: osVersion,
      BuildVersion: build,
    });
    await this.#checkIn("token update", "TokenUpdate", {
      Topic: profile.topic,
      Token: this.facts.token,
      PushMagic: this.facts.magic,
      AwaitingConfiguration: awaitsConfiguration,
      ...(this.facts.family === "macos" ? {} : { UnlockToken: Buffer.from(`unlock ${this.facts.serial}`) }),
    });
    this.#enrolled = true;
    this.#hasLeft = false;
    stats.enrolled++;
  }

  /** Takes everything that waits. Calls while it is connected make it ask once more. Never throws. */
  connect(): Promise<void> {
    if (this.#connecting) {
      this.#again = true;
      return this.#connecting;
    }
    this.#connecting = this.#work().finally(() => {
      this.#connecting = null;
    });
    return this.#connecting;
  }

  async #work(): Promise<void> {
    try {
      do {
        this.#again = false;
        this.postpones = false;
        if (this.#unsent !== null) await this.#takeFrom(this.#unsent, "answer");
        await this.#takeFrom({ Status: "Idle" }, "poll");
      } while (this.#again && this.#enrolled);
    } catch {
      // Failures are counted. The device tries again when it is asked to connect, or by itself.
    }
  }

  /** Sends the message, does the command that comes back, answers it, and so on until nothing waits. */
  async #takeFrom(message: PlistDict, as: AppleRequest): Promise<void> {
    let next: PlistDict | null = message;
    let name = as;
    while (next !== null && this.#enrolled) {
      const body = await this.#send(name, next);
      this.#unsent = null;
      const after = this.#afterwards;
      this.#afterwards = null;
      await after?.();
      next = body.length === 0 || !this.#enrolled ? null : this.#answerTo(readPlistDict(body, COMMAND_MAX));
      this.#unsent = next;
      name = "answer";
    }
  }

  #answerTo(message: PlistDict): PlistDict {
    const CommandUUID = stringIn(message, "CommandUUID") ?? "";
    const command = dictIn(message, "Command") ?? {};
    const type = stringIn(command, "RequestType") ?? "";
    const { stats, notNow, errors } = this.#world;
    if (this.#done.has(CommandUUID)) stats.repeated++;
    else if (!urgent.includes(type) && this.#random.chance(notNow)) {
      stats.postponed++;
      this.postpones = true;
      return { Status: "NotNow", CommandUUID };
    }
    try {
      const action = Object.hasOwn(actions, type) ? actions[type] : undefined;
      if (!action) throw new CommandRefused(12_021, "MCMDMErrorDomain", `'${type}' is not a valid request type.`);
      if (this.#random.chance(errors)) throw new CommandRefused(12_000, "MCMDMErrorDomain", "The command failed.");
      const more = action(command, this.#doing());
      this.#done.add(CommandUUID);
      stats.acknowledged++;
      this.#count(type, more);
      this.#afterwards = this.#consequenceOf(type, command);
      return { Status: "Acknowledged", CommandUUID, ...more };
    } catch (error) {
      if (!(error instanceof CommandRefused)) throw error;
      stats.refused++;
      const { code, domain, message: text } = error;
      const chain = { ErrorCode: code, ErrorDomain: domain, LocalizedDescription: text, USEnglishDescription: text };
      return { Status: "Error", CommandUUID, ErrorChain: [chain] };
    }
  }

  #doing(): Doing {
    const { facts, state } = this;
    const random = this.#random;
    const { profile, identity } = this.#enrollment!;
    return { facts, state, random, enrollmentIdentifier: profile.identifier, identity: identity.certificate };
  }

  #count(type: string, more: PlistDict): void {
    const { stats } = this.#world;
    if (type === "InstallProfile") stats.profilesInstalled++;
    if (dictIn(more, "SecurityInfo")?.FDE_PersonalRecoveryKeyCMS !== undefined) stats.keysEscrowed++;
  }

  /** The device's action once the server has its answer. */
  #consequenceOf(type: string, command: PlistDict): (() => Promise<void>) | null {
    const isOwn = stringIn(command, "Identifier") === this.#enrollment!.profile.identifier;
    if (type === "DeclarativeManagement") return () => this.#synchronize();
    if (type === "RemoveProfile" && isOwn) return () => this.checkOut();
    // An erased device does not check out.
    if (type === "EraseDevice") return async () => this.#leave();
    return null;
  }

  async #synchronize(): Promise<void> {
    const ask: Ask = async (endpoint, data) => {
      const body = await this.#checkIn("declarations", "DeclarativeManagement", {
        Endpoint: endpoint,
        ...(data === undefined ? {} : { Data: Buffer.from(JSON.stringify(data)) }),
      });
      return body.length === 0 ? null : JSON.parse(body.toString());
    };
    const before = [...this.state.declarations.values()].filter(({ active }) => active).length;
    const { facts } = this;
    const random = this.#random;
    const after = await synchronize(ask, this.state.declarations, {
      device: facts.board,
      osVersion: facts.osVersion,
      updateFails: random.chance(this.#world.errors),
    });
    this.#world.stats.declarationsActive += after - before;
  }

  /** Leaves device management, as when its user removes the profile. */
  async checkOut(): Promise<void> {
    await this.#checkIn("check out", "CheckOut", { Topic: this.#enrollment?.profile.topic ?? "" });
    this.#leave();
  }

  #leave(): void {
    if (!this.#enrolled) return;
    this.#enrolled = false;
    this.#hasLeft = true;
    this.#world.stats.left++;
  }

  #checkIn(name: AppleRequest, MessageType: string, fields: PlistDict): Promise<Buffer> {
    return this.#send(name, { MessageType, ...fields }, CHECK_IN);
  }

  /** The body of the reply. Throws if its status is not 200. */
  #send(name: AppleRequest, fields: PlistDict, type = ""): Promise<Buffer> {
    const { web, stats } = this.#world;
    const { profile, identity } = this.#enrollment!;
    return stats.timed(name, async () => {
      const body = Buffer.from(writePlist({ UDID: this.facts.udid, ...fields }));
      const reply = await web.call({
        method: "PUT",
        url: type === CHECK_IN ? profile.checkInUrl : profile.serverUrl,
        headers: {
          "mdm-signature": messageSignature(body, identity),
          "content-type": type === "" ? "application/xml" : type,
        },
        body,
      });
      // The server has removed the device on purpose.
      if (reply.status === 403 && reply.body.includes("com.apple.unrecognized.device")) this.#leave();
      if (reply.status !== 200) throw new Error(`status ${reply.status}`);
      return reply.body;
    });
  }
}
