// A simulated Windows device, which speaks only the wire: it enrolls, and does the commands that it gets in its sessions.
import type { KeyObject } from "node:crypto";
import type { SecurityToken } from "../../soap/envelope.ts";
import { alerts, statuses, UNENROLLED_BY_USER } from "../../syncml/codes.ts";
import { everyCommand, type SyncCommand, syncCommand } from "../../syncml/value.ts";
import { mix, Random } from "../random.ts";
import { Web } from "../web.ts";
import { type Enrollment, type EnrollmentFacts, enrollDevice, type Post } from "./enrollment.ts";
import { type Nodes, perform } from "./nodes.ts";
import { type Exchange, Sessions } from "./session.ts";
import type { WindowsRequest, WindowsStats } from "./stats.ts";

interface DeviceWorld {
  readonly web: Web;
  readonly stats: WindowsStats;
  readonly seed: number;
  /** The shares of commands that a device postpones, and that fail. */
  readonly notNow: number;
  readonly errors: number;
  /** The share of devices that authenticate with their certificate, where the connection is encrypted. */
  readonly certificates: number;
  readonly tls?: { readonly ca?: string; readonly insecure?: boolean };
}

interface AnsweredCommand {
  /** Text of the command. */
  readonly text: string;
  readonly replies: readonly SyncCommand[];
}

/** Commands that a device does not postpone. */
const URGENT = /\/RemoteWipe\/|\/Unenroll$/i;
/** A session has no more messages than this, so that a server that repeats itself does not keep it. */
const MESSAGES_MAX = 200;

export class WindowsDevice {
  readonly facts: EnrollmentFacts;
  nodes: Nodes;
  readonly #world: DeviceWorld;
  readonly #random: Random;
  readonly #usesCertificate: boolean;
  #enrollment: Enrollment | null = null;
  #sessions: Sessions | null = null;
  #ownWeb: Web | null = null;
  #hasLeft = false;
  /** What was answered to commands, by their ids. */
  readonly #answers = new Map<string, AnsweredCommand>();
  /** Commands whose answers the server has taken. */
  readonly #takenIds = new Set<string>();
  #connecting: Promise<void> | null = null;
  /** Whether the device was erased, or its enrollment was removed: it acts so once the server knows. */
  #isWiped = false;
  #leaves = false;

  constructor(world: DeviceWorld, facts: EnrollmentFacts, index: number) {
    this.#world = world;
    this.facts = facts;
    this.#random = new Random(mix(world.seed, index, 22));
    this.#usesCertificate = this.#random.chance(world.certificates);
    this.nodes = firstNodes(facts);
  }

  get isEnrolled(): boolean {
    return this.#enrollment !== null && !this.#hasLeft;
  }

  /** Id of the server that manages the device; null: none does. */
  get providerId(): string | null {
    return this.isEnrolled ? (this.#enrollment?.providerId ?? null) : null;
  }

  /** How many answers the server has not taken. */
  get unsent(): number {
    return this.#answers.size - this.#takenIds.size;
  }

  /** Resolves when it is not connected. */
  async idle(): Promise<void> {
    await this.#connecting;
  }

  async close(): Promise<void> {
    await this.#ownWeb?.close();
  }

  /** Throws if the server refuses a step. */
  async enroll(discoveryUrl: string, token: SecurityToken, key: KeyObject): Promise<void> {
    const { stats } = this.#world;
    const { facts } = this;
    const post: Post = (url, type, body) => stats.timed("enrollment", () => postTo(this.#world.web, url, type, body));
    this.#enrollment = await enrollDevice(post, { discoveryUrl, token, facts, key });
    const { account, managementUrl: url, certificate } = this.#enrollment;
    const withCertificate = this.#usesCertificate && url.startsWith("https:");
    if (withCertificate)
      this.#ownWeb = new Web({
        maxConnections: 1,
        identity: { certificate, key },
        ...(this.#world.tls === undefined ? {} : { tls: this.#world.tls }),
      });
    const web = this.#ownWeb ?? this.#world.web;
    this.#sessions = new Sessions(
      { deviceId: facts.DeviceID, account: withCertificate ? null : account, url },
      (...post) => postTo(web, ...post),
    );
    this.#answers.clear();
    this.#takenIds.clear();
    this.#hasLeft = false;
    stats.enrolled++;
  }

  /** One session. A call while it is connected waits for that session. Never throws. */
  connect(): Promise<void> {
    this.#connecting ??= this.#session().finally(() => {
      this.#connecting = null;
    });
    return this.#connecting;
  }

  /** The user removes the enrollment. Throws if the server does not accept it. */
  async leave(): Promise<void> {
    await this.idle();
    const alert = syncCommand("Alert", "5", { data: alerts.generic, items: [{ type: UNENROLLED_BY_USER, data: "1" }] });
    await this.#world.stats.timed("session", () => this.#sessions!.start([alert]));
    this.#gone();
  }

  async #session(): Promise<void> {
    const { stats } = this.#world;
    try {
      let answers: readonly SyncCommand[] = [];
      let name: WindowsRequest = "session";
      for (let i = 0; i < MESSAGES_MAX && this.isEnrolled; i++) {
        const sent = answers;
        const exchange = await stats.timed(name, async () => {
          const reply = name === "session" ? await this.#begin() : await this.#sessions!.send(numbered(sent));
          if (reply.status !== statuses.ok && reply.status !== statuses.authenticated)
            throw new Error(`the server answered the message with ${reply.status}`);
          return reply;
        });
        for (const { cmdRef } of sent) if (cmdRef !== null && this.#answers.has(cmdRef)) this.#takenIds.add(cmdRef);
        if (this.#endsAfter(sent)) return;
        if (exchange.commands.length === 0) return;
        const { msgId } = exchange.message.header;
        answers = [
          syncCommand("Status", "", { msgRef: msgId, cmdRef: "0", cmd: "SyncHdr", data: statuses.ok }),
          ...exchange.commands.flatMap((command) =>
            this.#answerTo(command).map((reply) => ({ ...reply, msgRef: msgId })),
          ),
        ];
        name = "answer";
      }
    } catch {
      // Failures are counted. The device begins another session later.
    }
  }

  /** Nonces expire: with the one that it gets then, the device begins once more. */
  async #begin(): Promise<Exchange> {
    const first = await this.#sessions!.start();
    return first.status === statuses.wrongCredentials ? this.#sessions!.start() : first;
  }

  #answerTo(command: SyncCommand): readonly SyncCommand[] {
    const { stats, notNow, errors } = this.#world;
    const text = JSON.stringify(command);
    const answered = this.#answers.get(command.cmdId);
    // What exists (418) is asked again, as a Replace with the same id.
    if (answered?.text === text) {
      if (this.#takenIds.has(command.cmdId)) stats.doubled++;
      else stats.repeated++;
      return answered.replies;
    }
    const isUrgent = [...everyCommand([command])].some(({ items }) =>
      items.some(({ target }) => URGENT.test(target ?? "")),
    );
    if (!isUrgent && this.#random.chance(notNow)) {
      // Windows has no word for this: without an answer, the server sends the command again in the next session.
      stats.postponed++;
      return [];
    }
    const done = perform(command, this.nodes, !isUrgent && this.#random.chance(errors));
    this.nodes = done.nodes;
    if (done.isDone) stats.done++;
    else stats.refused++;
    this.#answers.set(command.cmdId, { text, replies: done.replies });
    this.#takenIds.delete(command.cmdId);
    for (const path of done.executed) if (/\/RemoteWipe\//i.test(path)) this.#isWiped = true;
    if (done.executed.some((path) => /\/Unenroll$/i.test(path))) this.#leaves = true;
    return done.replies;
  }

  #endsAfter(sent: readonly SyncCommand[]): boolean {
    if (sent.length === 0 || !(this.#isWiped || this.#leaves)) return false;
    if (this.#isWiped) this.#world.stats.wiped++;
    this.#gone();
    return true;
  }

  #gone(): void {
    this.#hasLeft = true;
    this.#isWiped = false;
    this.#leaves = false;
    this.#world.stats.left++;
  }
}

async function postTo(web: Web, url: string, type: string, body: string) {
  return web.call({ method: "POST", url, headers: { "content-type": type }, body: Buffer.from(body) });
}

/** Ids of the device's own commands. */
const numbered = (commands: readonly SyncCommand[]): SyncCommand[] =>
  commands.map((command, i) => ({ ...command, cmdId: String(i + 1) }));

/** What every device can be asked. */
function firstNodes(facts: EnrollmentFacts): Nodes {
  const nodes: Record<string, string> = {
    "./DevDetail/SwV": facts.OSVersion ?? "",
    "./DevDetail/Ext/Microsoft/SMBIOSSerialNumber": facts.SerialNumber ?? facts.DeviceID,
    "./DevDetail/Ext/Microsoft/DeviceName": facts.DeviceName ?? "",
    "./DevInfo/DevId": facts.DeviceID,
  };
  return new Map(
    Object.entries(nodes).map(([path, data]) => [path.toLowerCase(), { path, data, format: "chr" }] as const),
  );
}
