// Management sessions of a Windows device (OMA DM 1.2): it sends messages, with a digest or over a connection with its
// certificate.
import { alerts, statuses } from "../../syncml/codes.ts";
import { DIGEST, digestOf } from "../../syncml/digest.ts";
import { readSyncml } from "../../syncml/read.ts";
import {
  type Credentials,
  isContainer,
  isRequest,
  type SyncCommand,
  type SyncMessage,
  syncCommand,
} from "../../syncml/value.ts";
import { writeSyncml } from "../../syncml/write.ts";
import type { Account, Post } from "./enrollment.ts";

const SYNCML = "application/vnd.syncml.dm+xml";

export interface Exchange {
  /** Status of the device's message. */
  readonly status: string;
  readonly message: SyncMessage;
  /** What the server asks for. */
  readonly commands: readonly SyncCommand[];
}

export interface Sending {
  /** Default: the digest with the nonce that the server has sent last. */
  readonly credentials?: Credentials | null;
  readonly isFinal?: boolean;
  readonly source?: string;
  readonly maxMsgSize?: number | null;
}

/** `account`: null for a device whose connection has its certificate. */
interface Device {
  readonly deviceId: string;
  readonly account: Account | null;
  readonly url: string;
}

export class Sessions {
  /** For the digest of the next message; null: the server has sent none. */
  nonce: string | null;
  readonly #device: Device;
  readonly #post: Post;
  #session = 0;
  #number = 0;

  constructor(device: Device, post: Post) {
    this.#device = device;
    this.#post = post;
    this.nonce = device.account?.firstNonce ?? null;
  }

  /** The credentials of a message with this nonce (base64). */
  digest(nonce: string): Credentials {
    const { name, secret } = this.#device.account!;
    return { format: "b64", type: DIGEST, data: digestOf(name, secret, Buffer.from(nonce, "base64")) };
  }

  /** One message of the session. */
  async send(commands: readonly SyncCommand[], options: Sending = {}): Promise<Exchange> {
    const ownCredentials = this.#device.account !== null && this.nonce !== null ? this.digest(this.nonce) : null;
    const { credentials = ownCredentials, isFinal = true, source = this.#device.deviceId, maxMsgSize = null } = options;
    this.#number++;
    const header = {
      sessionId: String(this.#session),
      msgId: String(this.#number),
      target: this.#device.url,
      source,
      credentials,
      maxMsgSize,
    };
    const reply = await this.#post(this.#device.url, SYNCML, writeSyncml({ header, commands, isFinal }));
    if (reply.status !== 200)
      throw new Error(`the server answered ${reply.status}: ${reply.body.toString("utf8", 0, 160)}`);
    const message = readSyncml(reply.body);
    const [status] = message.commands;
    this.nonce = status?.challenge?.nextNonce ?? null;
    return {
      status: status?.data ?? "",
      message,
      commands: message.commands.filter((command) => isRequest(command) || isContainer(command)),
    };
  }

  /** Begins a session. */
  async start(more: readonly SyncCommand[] = [], options: Sending = {}): Promise<Exchange> {
    this.#session++;
    this.#number = 0;
    const commands = [
      syncCommand("Alert", "2", { data: alerts.clientStart }),
      syncCommand("Alert", "3", {
        data: alerts.clientEvent,
        items: [{ type: "com.microsoft/MDM/LoginStatus", data: "user" }],
      }),
      syncCommand("Replace", "4", { items: [{ source: "./DevInfo/DevId", data: this.#device.deviceId }] }),
      ...more,
    ];
    const first = await this.send(commands, options);
    // Without a fresh nonce the server asks for it.
    return first.status === statuses.credentialsNeeded && options.credentials === undefined
      ? this.send(commands, options)
      : first;
  }
}
