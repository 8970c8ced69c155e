// Enrollment of managed agents (agent protocol, section 11). The stock agent of the same machine enrolls into the same row.
import { recordActivity } from "../activities/record.ts";
import { displayName } from "../agent/inventory/fields.ts";
import { ALL_HOSTS } from "../agent/inventory/labels.ts";
import { checkEnrollSecret } from "../agent/secret-check.ts";
import { channels, hostsPayload } from "../core/channels.ts";
import { type Context, service, within } from "../core/context.ts";
import { ApiError, authenticationFailed, invalid, limitExceeded } from "../core/errors.ts";
import { tokenHash } from "../core/random.ts";
import type { HostRow } from "../hosts/access.ts";
import { tellHostsMoved, tellMembersChanged } from "../labels/counts.ts";
import { forgetForeignResults } from "../policies/results.ts";
import { endPendingActions } from "../scripts/states.ts";
import { and, eq } from "../store/query.ts";
import { UniqueViolation } from "../store/store.ts";

export interface EnrollBody {
  readonly enroll_secret: string;
  readonly hardware_uuid: string;
  readonly hardware_serial: string;
  readonly hostname: string;
  readonly platform: string;
  readonly qengine_identifier: string;
  readonly osquery_identifier: string;
  readonly computer_name: string;
  readonly hardware_model: string;
}

const KEY_BYTES = 32;
const ATTEMPTS = 3;

/** Gives the agent's key; the one that the host had dies. */
export async function enrollAgent(ctx: Context, given: EnrollBody): Promise<string> {
  const secret = await checkEnrollSecret(ctx, given.enroll_secret, ctx.address);
  if ("wait" in secret) throw secret.wait > 0 ? limitExceeded(secret.wait) : authenticationFailed();
  if (given.hardware_uuid.trim() === "") throw invalid("hardware_uuid", "hardware_uuid is required");
  for (let attempt = 1; ; attempt++) {
    try {
      return await enroll(ctx, given, secret.teamId);
    } catch (error) {
      // The stock agent of the machine was first with the same identifier: look again.
      if (!(error instanceof UniqueViolation) || attempt === ATTEMPTS) throw error;
    }
  }
}

async function enroll(ctx: Context, given: EnrollBody, teamId: number | null): Promise<string> {
  const { clock, random, license } = ctx;
  const key = random.token(KEY_BYTES);
  const now = clock.iso();
  const told = toldBy(given);
  const identifier = (given.qengine_identifier || given.osquery_identifier).trim() || told.uuid;
  const limit = license.device_count;
  const work = async (store: Context["store"]) => {
    const inside = within(ctx, store);
    const old = await store.hosts.first({ where: eq("identifier", identifier) });
    if (!old && limit !== undefined && (await store.hosts.count()) >= limit) throw noRoom(limit);
    const host = old ? await again(inside, old, told, teamId) : await create(inside, identifier, told, teamId);
    await store.managedAgents.upsert([{ id: host.id, agent_key_hash: tokenHash(key), enrolled_at: now }], {
      on: ["id"],
    });
    await endPendingActions({ store, clock }, [host.id]);
    await store.notify(channels.hosts, hostsPayload([host.id]));
  };
  await ctx.store.tx(work, limit === undefined ? {} : { lock: "enroll" });
  return key;
}

const noRoom = (limit: number) => {
  const reason = `enroll host failed: maximum number of hosts reached: ${limit}`;
  return new ApiError(403, reason, [{ name: "base", reason }]);
};

type Told = ReturnType<typeof toldBy>;

const toldBy = ({ hardware_uuid, hardware_serial, hostname, platform, computer_name, hardware_model }: EnrollBody) => ({
  uuid: hardware_uuid.trim(),
  // Some boards report "-1" for want of a serial.
  hardware_serial: hardware_serial.trim() === "-1" ? "" : hardware_serial.trim(),
  hostname: hostname.trim(),
  platform: platform.trim(),
  computer_name: computer_name.trim(),
  hardware_model: hardware_model.trim(),
});

async function create(ctx: Context, identifier: string, told: Told, teamId: number | null): Promise<HostRow> {
  const { store, clock } = ctx;
  const now = clock.iso();
  const host = await store.hosts.insert({
    ...told,
    identifier,
    display_name: displayName(told),
    public_ip: ctx.address,
    team_id: teamId,
    created_at: now,
    updated_at: now,
    last_enrolled_at: now,
  });
  const label = await store.labels.first({ where: and(eq("name", ALL_HOSTS), eq("label_type", "builtin")) });
  if (label)
    await store.labelMembers.upsert([{ label_id: label.id, host_id: host.id }], {
      on: ["label_id", "host_id"],
      set: [],
      returning: [],
    });
  if (label) await tellMembersChanged(store, [label.id]);
  await recordActivity(
    { ...ctx, user: service },
    "svc_enrolled",
    { host_id: host.id, host_serial: host.hardware_serial, host_display_name: host.display_name },
    { hostId: host.id },
  );
  return host;
}

/** What is known stays: the stock agent knows better. */
async function again({ store, clock }: Context, old: HostRow, told: Told, teamId: number | null): Promise<HostRow> {
  const filled = Object.fromEntries(
    Object.entries(told).map(([column, value]) => [column, old[column as keyof Told] || value]),
  ) as Told;
  const now = clock.iso();
  const set = {
    ...filled,
    display_name: old.display_name || displayName(filled),
    team_id: teamId,
    // Never asked for the policies of another team.
    policy_updated_at: old.team_id === teamId ? old.policy_updated_at : null,
  };
  await store.hosts.update({ where: eq("id", old.id), set: { ...set, last_enrolled_at: now, updated_at: now } });
  if (old.team_id !== teamId) {
    await forgetForeignResults(store, [old.id]);
    await tellHostsMoved(store);
  }
  return { ...old, ...set };
}
