// Pushes of the topic: each is signed, and sent again until the server has taken it, as the vendor does.
import { createHash, type KeyObject, randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { SignJWT } from "jose";
import type { Web } from "../web.ts";
import type { AndroidStats } from "./stats.ts";

interface Topic {
  readonly web: Web;
  readonly stats: AndroidStats;
  /** The push address, with its secret. */
  readonly url: string;
  /** What the server expects as the audience: the address as it knows it, without the secret. */
  readonly audience: string;
  readonly email: string;
  readonly signer: KeyObject;
  readonly now: () => number;
  /** Whether the next message arrives twice. */
  readonly repeats: () => boolean;
}

type MessageType = "ENROLLMENT" | "STATUS_REPORT" | "COMMAND";

export const keyIdOf = (signer: KeyObject): string =>
  createHash("sha256")
    .update(signer.export({ type: "pkcs8", format: "der" }) as Buffer)
    .digest("hex")
    .slice(0, 16);

/** Tokens are used for a part of their hour. */
const TOKEN_SECONDS = 3600;
const USED_SECONDS = 3000;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 10_000;

export class Messages {
  readonly #topic: Topic;
  #token: { readonly text: string; readonly until: number } | null = null;
  readonly #waiting = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  /** Messages that the server has not taken. */
  undelivered = 0;

  constructor(topic: Topic) {
    this.#topic = topic;
    // Each message that waits listens to it.
    setMaxListeners(0, this.#ending.signal);
  }

  /** Resolves with true once the server has taken it, and with false if the fleet ended before. */
  async send(type: MessageType, data: unknown): Promise<boolean> {
    this.undelivered++;
    const delivery = this.#deliver(type, data);
    const call = delivery.then(() => void this.#waiting.delete(call));
    this.#waiting.add(call);
    return delivery;
  }

  /** Waits for what is on its way, for this long at most. `last` sends the last messages. */
  async stop(seconds: number, last: Promise<void>): Promise<void> {
    const late = globalThis.setTimeout(() => this.#ending.abort(), seconds * 1000);
    await last;
    while (this.#waiting.size > 0) await Promise.all(this.#waiting);
    clearTimeout(late);
  }

  async #deliver(type: MessageType, data: unknown): Promise<boolean> {
    const message = {
      attributes: { notificationType: type },
      data: Buffer.from(JSON.stringify(data)).toString("base64"),
      messageId: randomUUID(),
      publishTime: new Date(this.#topic.now()).toISOString(),
    };
    const body = Buffer.from(JSON.stringify({ message, subscription: "projects/svc-simulation/subscriptions/svc" }));
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      if (await this.#push(type, body)) break;
      const isOver = await sleep(wait, false, { signal: this.#ending.signal }).catch(() => true);
      if (isOver) return false;
    }
    this.undelivered--;
    if (this.#topic.repeats() && (await this.#push(type, body))) this.#topic.stats.repeated++;
    return true;
  }

  async #push(type: MessageType, body: Buffer): Promise<boolean> {
    const { web, url, stats } = this.#topic;
    const headers = { authorization: `Bearer ${await this.#signed()}`, "content-type": "application/json" };
    try {
      await stats.timed(names[type], async () => {
        const { status, body: text } = await web.call({ method: "POST", url, headers, body });
        if (status < 200 || status > 299) throw new Error(`status ${status}: ${text.toString("utf8", 0, 160)}`);
      });
      return true;
    } catch {
      return false;
    }
  }

  async #signed(): Promise<string> {
    const now = Math.floor(this.#topic.now() / 1000);
    if (this.#token && now < this.#token.until) return this.#token.text;
    const { email, audience, signer } = this.#topic;
    const text = await new SignJWT({ email, email_verified: true })
      .setProtectedHeader({ alg: "RS256", kid: keyIdOf(signer) })
      .setIssuer("https://accounts.google.com")
      .setAudience(audience)
      .setIssuedAt(now)
      .setExpirationTime(now + TOKEN_SECONDS)
      .sign(signer);
    this.#token = { text, until: now + USED_SECONDS };
    return text;
  }
}

const names = { ENROLLMENT: "enrollment", STATUS_REPORT: "status report", COMMAND: "command result" } as const;
