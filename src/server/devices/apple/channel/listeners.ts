// What other features do when devices check in. `server/extensions.ts` lists them.

import type { Content } from "../../../../api/bodies.ts";
import type { PlistDict } from "../../../../plist/value.ts";
import type { Identity } from "../../../certificates/device-ca/identities.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import type { Inside } from "../../../hosts/operations/kind.ts";
import type { Context } from "../../../platform/core/context.ts";
import { extensionPoint } from "../../../platform/core/extensions.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import type { LateContent } from "../commands/kind.ts";
import type { appleEnrollments } from "./tables.ts";

export type Enrollment = RowOf<typeof appleEnrollments>;

/** The host of a device that has enrolled, and the identity with which it did. */
export interface EnrolledAs {
  readonly host: HostRow;
  readonly identity: Pick<Identity, "facts">;
}

/** The device when its message arrived. */
export type AnsweringDevice = Pick<Enrollment, "host_id" | "awaiting_configuration">;

/** Methods run in the transaction of the change, under the lock of the host's operations. */
export interface AppleDeviceListener {
  /** The device has enrolled: it has sent the first push token since it authenticated. */
  enrolled?(inside: Context, device: Enrollment, of: EnrolledAs): Promise<void>;
  /**
   * The device of a known host begins to enroll (`authenticated`), or has left (`removed`): what was asked of it is
   * forgotten.
   */
  reset?(inside: Inside, device: Pick<Enrollment, "host_id" | "state">): Promise<void>;
  /** The device has connected by itself for the first time since `expectReturn`. */
  returned?(inside: Inside, device: Pick<Enrollment, "host_id">): Promise<void>;
  /** The device has done a command of this kind of operations, or has failed. */
  answered?(inside: Context, device: AnsweringDevice, kind: string): Promise<void>;
  /** By `MessageType`: answers to check-in messages that the channel does not know. */
  readonly messages?: Readonly<Record<string, AppleMessage>>;
  /** By the name of the command's kind. */
  readonly readers?: Readonly<Record<string, AppleReader>>;
  /** By the name of their kind: commands that are made when the device asks, because they contain a secret. */
  readonly builtLate?: Readonly<Record<string, LateContent>>;
}

export const appleDevices = extensionPoint<AppleDeviceListener>("what features do with Apple devices");

/** Answers a check-in message of a type that the channel does not know. It opens its own transactions. */
export type AppleMessage = (ctx: Context, message: PlistDict, device: Enrollment) => Promise<Content>;

/** What a device has answered to a command. */
export interface AppleAnswered {
  readonly hostId: number;
  readonly requestType: string;
  /** Whether the device has done it. */
  readonly isDone: boolean;
  readonly message: PlistDict;
}

/**
 * Reads an answer after it was stored, in transactions of its own. The device gets its next command afterwards, which
 * was taken before unless nothing waited. If the server ends in between, the reader is not called again.
 */
export type AppleReader = (ctx: Context, answered: AppleAnswered) => Promise<void>;
