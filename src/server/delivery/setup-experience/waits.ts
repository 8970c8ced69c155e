// What else belongs to the setup of a host: a device may wait for it, and has to do other things first.
import type { z } from "zod";
import type { SetupResults } from "../../../api/delivery/setup-results.ts";
import type { Context } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";

type Shown = Pick<
  z.output<typeof SetupResults>,
  "bootstrap_package" | "configuration_profiles" | "account_configuration"
>;

export interface SetupWait {
  /** Whether the host has to do something else before its software. */
  isHeld(store: ServerTx, hostId: number): Promise<boolean>;
  /**
   * The setup has ended, or the host's agent does not wait for it any longer (`isForced`). Runs in a transaction, under
   * the lock of the host's operations.
   */
  over(inside: Context, hostId: number, isForced: boolean): Promise<void>;
  /** What the reply to an agent says of the steps that come first. */
  shown(store: ServerTx, hostId: number): Promise<Shown>;
}

declare module "../../platform/core/extensions.ts" {
  interface Extensions {
    readonly setupWaits: readonly SetupWait[];
  }
}
