// Queues commands for Apple devices, and asks the devices to connect.
import type { PlistDict } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import type { OperationKind } from "../../../hosts/operations/kind.ts";
import type { Context } from "../../../platform/core/context.ts";
import { addCommands } from "../../commands/rows.ts";
import { enrollmentsOfHosts } from "../push/devices.ts";
import { push } from "../push/push.ts";
import type { AppleAnswer } from "./kind.ts";

export interface AppleCommand {
  readonly hostId: number;
  /** What the device gets as `Command`. */
  readonly command: PlistDict & { readonly RequestType: string };
  /** Name of the profile, if the command concerns one. */
  readonly name?: string;
}

/** Queues commands in the caller's transaction. Returns the uuid of each: `uuid`, if that is given, or one of its own. */
export async function sendAppleCommands(
  inside: Context,
  kind: OperationKind<AppleAnswer>,
  commands: readonly AppleCommand[],
  uuid?: string,
): Promise<string[]> {
  const hostIds = [...new Set(commands.map(({ hostId }) => hostId))];
  const [uuids] = await Promise.all([
    addCommands(
      inside,
      kind,
      commands.map(({ hostId, command, name = null }) => ({
        hostId,
        requestType: command.RequestType,
        name,
        content: writePlist(command),
      })),
      uuid,
    ),
    enrollmentsOfHosts(inside.store, hostIds).then((devices) => push(inside, devices)),
  ]);
  return uuids;
}
