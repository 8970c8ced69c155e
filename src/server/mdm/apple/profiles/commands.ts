// The commands by which profiles reach Apple devices. The feature that keeps the devices' queues sends them.
import type { Context } from "../../../core/context.ts";

export type ProfileCommand =
  | {
      readonly request_type: "InstallProfile";
      readonly host_id: number;
      readonly name: string;
      readonly payload: Uint8Array;
    }
  | {
      readonly request_type: "RemoveProfile";
      readonly host_id: number;
      readonly name: string;
      readonly identifier: string;
    }
  /** The device's declarations have changed. */
  | { readonly request_type: "DeclarativeManagement"; readonly host_id: number };

export interface AppleCommands {
  /** Queues commands in the caller's transaction, and asks the devices to connect. Returns the uuid of each. */
  queue(inside: Context, commands: readonly ProfileCommand[]): Promise<string[]>;
}

declare module "../../../core/extensions.ts" {
  interface Extensions {
    readonly appleCommands: AppleCommands;
  }
}

/** No Apple device can enroll, so there is none that a command could be for. */
export const noAppleCommands: AppleCommands = {
  async queue() {
    throw new Error("no Apple device is enrolled");
  },
};
