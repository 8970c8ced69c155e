import type { KeyObject } from "node:crypto";
import type { FleetWork } from "../fleet.ts";
import type { Web } from "../web.ts";
import type { Messages } from "./messages.ts";
import type { StandIn } from "./stand-in.ts";
import type { AndroidStats } from "./stats.ts";

/** What simulated devices share. */
export interface DeviceWorld {
  readonly standIn: StandIn;
  readonly web: Web;
  /** Where the server is reached. */
  readonly serverUrl: string;
  /** A key for a certificate. Devices share some. */
  readonly newKey: () => Promise<KeyObject>;
  readonly messages: Messages;
  readonly stats: AndroidStats;
  readonly work: FleetWork;
  readonly now: () => number;
  readonly seed: number;
  /** The share of commands that arrive when the device is away. */
  readonly notNow: number;
  /** The shares of commands that fail, and of policies of which a setting cannot be applied. */
  readonly errors: number;
  /** How long a device is away, in seconds. */
  readonly postponedSeconds: number;
  /** How soon a device reacts, in seconds at most. */
  readonly reactionSeconds: number;
}
