// Sends a command that a user has written to hosts: to all of them, or to none.
import { COMMAND_MAX } from "../../../api/devices/commands.ts";
import { bytesOfBase64 } from "../../../text/base64.ts";
import { spend } from "../../hosts/approvals/budget.ts";
import { needsApproval } from "../../hosts/approvals/request.ts";
import { type HostRow, knowsOf } from "../../hosts/hosts/access.ts";
import { identifierSpellings } from "../../hosts/hosts/identifier.ts";
import { checkSelection, expectedSelection } from "../../hosts/hosts/selection.ts";
import { recordActivities } from "../../platform/activities/record.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import { type Context, isPremium, within } from "../../platform/core/context.ts";
import {
  forbidden,
  forbiddenFor,
  invalid,
  notThere,
  partTooLarge,
  premiumRequired,
} from "../../platform/core/errors.ts";
import { may } from "../../platform/core/security/access.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { requireAnyMdm } from "../gate.ts";
import { type CommandPlatform, platformServing, type ReadCommand } from "./platform.ts";
import { addCommands } from "./rows.ts";

const columns = ["id", "uuid", "platform", "team_id", "display_name"] as const;
type Target = Pick<HostRow, (typeof columns)[number]>;

interface Request {
  readonly command: string;
  readonly host_uuids: readonly string[];
}

export async function runCommand(ctx: Context, request: Request) {
  await requireAnyMdm(ctx);
  const bytes = bytesOf(request.command);
  const hosts = await targetsOf(ctx, request.host_uuids);
  const platform = familyOf(ctx, hosts);
  const command = platform.read(bytes);
  if (command.isAction && !hosts.every(({ team_id }) => may(ctx.user, "hosts:lock", team_id)))
    throw forbiddenFor("commands that lock, unlock or wipe hosts, or end their management, need the right to do that");
  if (command.isPremium && !isPremium(ctx)) throw premiumRequired();
  if (command.wipes) await checkWipe(ctx, hosts);
  const command_uuid = command.uuid ?? ctx.random.uuid();
  await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      if ((await store.mdmCommands.first({ where: eq("command_uuid", command_uuid) })) !== null)
        throw invalid("command", "a command with this uuid was sent before: give the command another one");
      if (command.wipes) await spend(inside, "wipe", hosts.length);
      for await (const batch of parts(hosts)) await queue(inside, { platform, command, command_uuid }, batch);
    },
    { lock: `mdm-command-${command_uuid}` },
  );
  return { command_uuid, request_type: command.requestType };
}

function bytesOf(text: string): Buffer {
  const bytes = bytesOfBase64(text);
  if (bytes === null || bytes.length === 0) throw invalid("command", "the command is not base64");
  if (bytes.length > COMMAND_MAX) throw partTooLarge("command", COMMAND_MAX);
  return bytes;
}

/** The hosts with these uuids, all of which are managed by this server. */
async function targetsOf(ctx: Context, uuids: readonly string[]): Promise<Target[]> {
  const requested = new Map(uuids.map((uuid) => [uuid.trim().toLowerCase(), uuid.trim()]));
  const hostsByUuid = new Map<string, Target[]>();
  // An index finds these spellings. To ignore case altogether took 17 s for 20,000 hosts on Postgres.
  for await (const batch of parts([...requested.values()].flatMap(identifierSpellings)))
    for (const host of await ctx.store.hosts.pick(columns, { where: oneOf("uuid", batch) }))
      if (knowsOf(ctx, host))
        hostsByUuid.set(host.uuid.toLowerCase(), [...(hostsByUuid.get(host.uuid.toLowerCase()) ?? []), host]);
  const missing = [...requested.keys()].filter((uuid) => uuid === "" || !hostsByUuid.has(uuid));
  if (missing.length > 0) throw notThere(`no host has ${named(missing, "the uuid", "these uuids")}`);
  const hosts = [...hostsByUuid.values()].flat();
  if (!hosts.every(({ team_id }) => may(ctx.user, "commands:run", team_id))) throw forbidden();
  const managed = await managedAmong(ctx, hosts);
  const unmanaged: string[] = [];
  const targets: Target[] = [];
  // Copies of a machine have its uuid, but not its enrollment.
  for (const alike of hostsByUuid.values()) {
    const owners = alike.filter(({ id }) => managed.has(id));
    if (owners.length > 1) throw invalid("host_uuids", `several managed hosts have the uuid ${owners[0]!.uuid}`);
    if (owners.length === 1) targets.push(owners[0]!);
    else unmanaged.push(alike[0]!.display_name);
  }
  if (unmanaged.length > 0)
    throw invalid(
      "host_uuids",
      `device management is not turned on for ${named(unmanaged, "the host", "these hosts")}`,
    );
  return targets;
}

async function managedAmong({ store }: Context, hosts: readonly Target[]): Promise<ReadonlySet<number>> {
  const ids = new Set<number>();
  for await (const batch of parts(hosts.map(({ id }) => id)))
    for (const { id } of await store.hostMdm.pick(["id"], {
      where: and(oneOf("id", batch), eq("connected_to_svc", true)),
    }))
      ids.add(id);
  return ids;
}

const MAX_NAMES_SHOWN = 5;

function named(names: readonly string[], singular: string, several: string): string {
  if (names.length === 1) return `${singular} ${names[0]}`;
  const more = names.length > MAX_NAMES_SHOWN ? ` and ${names.length - MAX_NAMES_SHOWN} more` : "";
  return `${several}: ${names.slice(0, MAX_NAMES_SHOWN).join(", ")}${more}`;
}

function familyOf(ctx: Context, hosts: readonly Target[]): CommandPlatform {
  const families = new Set(hosts.map((host) => platformServing(ctx, host)));
  if (families.size > 1) throw invalid("host_uuids", "all hosts have to be of one platform");
  const [platform] = families;
  if (!platform) throw invalid("host_uuids", `commands cannot be sent to hosts of the platform ${hosts[0]!.platform}`);
  return platform;
}

/** The rules for wipes hold for commands that wipe. */
async function checkWipe(ctx: Context, hosts: readonly Target[]): Promise<void> {
  const expected = expectedSelection(ctx);
  await checkSelection(
    expected,
    hosts.map(({ id }) => id),
  );
  if (needsApproval(ctx, "wipe_host", hosts.length))
    throw invalid(
      "command",
      "another user has to approve wipes: use POST /hosts/:id/wipe, which asks for the approval",
    );
}

interface QueuedCommand {
  readonly platform: CommandPlatform;
  readonly command: ReadCommand;
  readonly command_uuid: string;
}

async function queue(inside: Context, { platform, command, command_uuid }: QueuedCommand, hosts: readonly Target[]) {
  const { requestType, content, sealed } = command;
  const hostIds = hosts.map(({ id }) => id);
  await addCommands(
    inside,
    platform.kind,
    hostIds.map((hostId) => ({ hostId, requestType, name: null, content, sealed })),
    command_uuid,
  );
  await recordActivities(
    inside,
    "ran_custom_mdm_command",
    hosts.map(({ id, display_name, uuid, platform: name }) => ({
      host_id: id,
      host_display_name: display_name,
      host_uuid: uuid,
      command_uuid,
      request_type: requestType,
      platform: name,
    })),
    { hostIds },
  );
  await platform.wake(inside, hostIds);
}
