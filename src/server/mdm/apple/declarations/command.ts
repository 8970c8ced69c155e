// Notifies devices that their declarations have changed.
import type { Context } from "../../../core/context.ts";
import { appleCommandKind } from "../commands/kind.ts";
import { sendAppleCommands } from "../commands/send.ts";

export const appleDeclarationCommand = appleCommandKind({
  name: "apple_declarations",
  title: "declarations",
  // The device shows with its next requests that it has understood.
  async ended() {},
});

export async function notifyDevices(inside: Context, hostIds: readonly number[]): Promise<void> {
  if (hostIds.length === 0) return;
  await sendAppleCommands(
    inside,
    appleDeclarationCommand,
    hostIds.map((hostId) => ({ hostId, command: { RequestType: "DeclarativeManagement" } })),
  );
}
