// What other features do when devices enroll and leave. `server/extensions.ts` lists them.

import type { Inside } from "../../../hosts/operations/kind.ts";
import type { Context } from "../../../platform/core/context.ts";
import { extensionPoint } from "../../../platform/core/extensions.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import type { WindowsMadeLate } from "../commands/kind.ts";
import type { windowsEnrollments } from "./tables.ts";

export type Enrollment = RowOf<typeof windowsEnrollments>;

/** Methods run in the transaction of the change, under the lock of the host's operations. */
export interface WindowsDeviceListener {
  enrolled?(inside: Context, device: Enrollment): Promise<void>;
  /** The device enrolls again (`enrolled`), or has left (`removed`): what was asked of it is forgotten. */
  reset?(inside: Inside, device: Pick<Enrollment, "host_id" | "state">): Promise<void>;
  /** The device's answers are stored. Outside of transactions. Returns the id of its host, which may be another now. */
  afterAnswers?(ctx: Context, device: Pick<Enrollment, "id" | "host_id" | "is_alone">): Promise<number>;
  /** The device has done a command, or has failed. */
  answered?(inside: Context, hostId: number): Promise<void>;
  /** By the name of their kind: commands that are made when the device asks for them. */
  readonly builtLate?: Readonly<Record<string, WindowsMadeLate>>;
}

export const windowsDevices = extensionPoint<WindowsDeviceListener>("what features do with Windows devices");
