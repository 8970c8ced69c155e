// What a platform adds to commands: which hosts it serves, and how their commands are read and sent.

import type { HostRow } from "../../hosts/hosts/access.ts";
import type { Lane, OperationKind } from "../../hosts/operations/kind.ts";
import type { Context } from "../../platform/core/context.ts";
import { extensionPoint } from "../../platform/core/extensions.ts";

export interface ReadCommand {
  readonly requestType: string;
  /** The uuid that the caller has chosen; null: the server makes one. */
  readonly uuid: string | null;
  readonly isPremium: boolean;
  /** Whether devices lose their data by it. */
  readonly wipes: boolean;
  /** Whether the command needs the right to lock hosts: it locks, unlocks or wipes them, or ends their management. */
  readonly isAction: boolean;
  /** What the platform's channel sends; with a mask in place of passwords. */
  readonly content: string;
  /** The content with its passwords; null: there are none. */
  readonly sealed: string | null;
}

export interface CommandPlatform {
  readonly lane: Lane;
  /** The kind of operation of commands that users send. */
  readonly kind: OperationKind;
  /** The status of a command that the device has not answered. */
  readonly waiting: string;
  /** Types of commands that users may cancel while they wait. */
  readonly cancellable: readonly string[];
  serves(host: Pick<HostRow, "platform">): boolean;
  /** Throws a 422 of `command` that names the reason for a command that is refused. */
  read(bytes: Buffer): ReadCommand;
  /** Asks the devices to connect, after the commit of the caller's transaction. */
  wake(inside: Context, hostIds: readonly number[]): Promise<void>;
  /** Whether a command is one whose content is a profile. */
  installsProfile(command: { readonly kind: string; readonly request_type: string }): boolean;
  /** The command as the device gets it. */
  payload(command: { readonly command_uuid: string; readonly content: string }): string;
}

export const commandPlatforms = extensionPoint<CommandPlatform>("platforms of commands");

type Deps = Pick<Context, "extensions">;

export const platformServing = ({ extensions }: Deps, host: Pick<HostRow, "platform">): CommandPlatform | null =>
  extensions.of(commandPlatforms).find((platform) => platform.serves(host)) ?? null;

export function platformOfLane({ extensions }: Deps, lane: Lane): CommandPlatform {
  const platform = extensions.of(commandPlatforms).find((candidate) => candidate.lane === lane);
  if (!platform) throw new Error(`no platform has commands in the lane ${lane}`);
  return platform;
}
