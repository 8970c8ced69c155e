// Profiles of Apple devices: files, declarations, and their commands.
import { inJson } from "../../../../text/json.ts";
import { hostMdm } from "../../../hosts/mdm-status/tables.ts";
import type { Context } from "../../../platform/core/context.ts";
import { and, eq, exists, oneOf } from "../../../platform/store/query.ts";
import type { Delivery, HostProfileRow, ProfilePlatform, QueuedCommands } from "../../profiles/platform.ts";
import { type AppleCommand, sendAppleCommands } from "../commands/send.ts";
import { appleProfileCommand } from "./commands.ts";
import { readActivation, readDeclaration } from "./declaration.ts";
import { inPlist } from "./escape.ts";
import { readMobileconfig } from "./mobileconfig.ts";

export const applePlatform: ProfilePlatform = {
  identifiedBy: "content",
  name: "darwin",
  isOn: async ({ config }) => (await config.current()).mdm.enabled_and_configured,
  read: (file) => readMobileconfig(file) ?? readDeclaration(file),
  readActivation,
  fileName: ({ name, kind }) => `${name}.${kind === "profile" ? "mobileconfig" : "json"}`,
  hosts: and(oneOf("platform", ["darwin", "ios", "ipados"]), exists(hostMdm, "id", eq("connected_to_svc", true))),
  escape: (value, kind) => (kind === "profile" ? inPlist(value) : inJson(value)),
  install: (inside, deliveries) =>
    queue(
      inside,
      deliveries.map(({ row, content }: Delivery) => [
        row,
        { RequestType: "InstallProfile", Payload: Buffer.from(content) },
      ]),
    ),
  remove: (inside, rows) =>
    queue(
      inside,
      rows.map((row) => [row, { RequestType: "RemoveProfile", Identifier: row.identifier }]),
    ),
  created: (profile, team) =>
    profile.kind === "profile"
      ? {
          type: "created_macos_profile",
          details: { ...named(profile), profile_identifier: profile.identifier, ...team },
        }
      : {
          type: "created_declaration_profile",
          details: { ...named(profile), identifier: profile.identifier, ...team },
        },
  deleted: (profile, team) =>
    profile.kind === "profile"
      ? {
          type: "deleted_macos_profile",
          details: { ...named(profile), profile_identifier: profile.identifier, ...team },
        }
      : {
          type: "deleted_declaration_profile",
          details: { ...named(profile), identifier: profile.identifier, ...team },
        },
  edited: (kind, team) => ({
    type: kind === "profile" ? "edited_macos_profile" : "edited_declaration_profile",
    details: { ...team },
  }),
};

const named = ({ name }: { readonly name: string }) => ({ profile_name: name });

/** A device reads all of its declarations together: one command is enough for all that have changed. */
async function queue(
  inside: Context,
  pairs: readonly (readonly [HostProfileRow, AppleCommand["command"]])[],
): Promise<QueuedCommands> {
  const commands: AppleCommand[] = [];
  const indexes = new Map<number, number>();
  const declaring = new Map<number, number>();
  for (const [row, command] of pairs) {
    const { host_id: hostId, name } = row;
    if (row.kind === "profile") {
      indexes.set(row.id, commands.length);
      commands.push({ hostId, command, name });
      continue;
    }
    const index = declaring.get(hostId) ?? commands.length;
    if (!declaring.has(hostId)) {
      declaring.set(hostId, index);
      commands.push({ hostId, command: { RequestType: "DeclarativeManagement" } });
    }
    indexes.set(row.id, index);
  }
  const uuids = await sendAppleCommands(inside, appleProfileCommand, commands);
  return new Map([...indexes].map(([id, index]) => [id, uuids[index]!]));
}
