// Enrollment of managed agents (agent protocol, section 11). The stock agent of the same machine uses the same host
// row.
import { recordActivity } from "../activities/record.ts";
import { displayName } from "../agent/inventory/fields.ts";
import { channels, hostsPayload } from "../core/channels.ts";
import { type Context, service, within } from "../core/context.ts";
import { ApiError, authenticationFailed, invalid, limitExceeded } from "../core/errors.ts";
import { tokenHash } from "../core/random.ts";
import { moveEnrolledHosts } from "../enrollment/move.ts";
import { ENROLLED_ELSEWHERE, recordRefused } from "../enrollment/refused.ts";
import { judgeReenrollment } from "../enrollment/rule.ts";
import { checkEnrollSecret } from "../enrollment/secret-check.ts";
import { endPendingActions } from "../host-actions/states.ts";
import type { HostRow } from "../hosts/access.ts";
import {
  hostIdentified,
  identifierSpellings,
  renewedIdentifier,
  soleHostWithUuid,
  storedIdentifier,
} from "../hosts/identifier.ts";
import { ALL_HOSTS } from "../labels/builtin-labels.ts";
import { notifyMembersChanged } from "../labels/counts.ts";
import { and, eq, oneOf } from "../store/query.ts";
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

/** Returns the new agent key; a previous key of the host becomes invalid. */
export async function enrollAgent(ctx: Context, given: EnrollBody): Promise<string> {
  const secret = await checkEnrollSecret(ctx, given.enroll_secret, ctx);
  if ("wait" in secret) throw secret.wait > 0 ? limitExceeded(secret.wait) : authenticationFailed();
  if (given.hardware_uuid.trim() === "") throw invalid("hardware_uuid", "hardware_uuid is required");
  for (let attempt = 1; ; attempt++) {
    try {
      const result = await enroll(ctx, given, secret.teamId);
      if ("key" in result) return result.key;
      await recordRefused(ctx, {
        host: result.refused,
        secretTeam: secret.teamId,
        agent: "managed_agent",
        address: ctx.address,
      });
      throw enrolledElsewhere();
    } catch (error) {
      // The stock agent enrolled with the same identifier first, or the host changed team: decide again.
      const again = error instanceof UniqueViolation || error instanceof Outdated;
      if (!again || attempt === ATTEMPTS) throw error;
    }
  }
}

/** The host was deleted or changed team between the decision and the write; the decision has to be repeated. */
class Outdated extends Error {}

type Result = { readonly key: string } | { readonly refused: HostRow };

async function enroll(ctx: Context, given: EnrollBody, teamId: number | null): Promise<Result> {
  const { clock, random, license, settings } = ctx;
  const key = random.token(KEY_BYTES);
  const now = clock.iso();
  const reported = reportedBy(given);
  const named = (given.qengine_identifier || given.osquery_identifier).trim();
  const identifier = named || reported.uuid;
  const limit = license.device_count;
  const work = async (store: Context["store"]): Promise<Result> => {
    const inside = within(ctx, store);
    const spelled = await store.hosts.list({ where: oneOf("identifier", identifierSpellings(identifier)) });
    const byIdentifier = new Map(spelled.map((row) => [row.identifier, row]));
    const identified = hostIdentified(byIdentifier, identifier, teamId);
    // Another team may have a host whose identifier is this machine's UUID.
    const isOwn = identified?.team_id === teamId;
    const sibling = isOwn || named !== "" ? null : await soleHostWithUuid(inside, reported.uuid, teamId);
    const old = sibling ?? identified;
    if (!old && limit !== undefined && (await store.hosts.count()) >= limit) throw noRoom(limit);
    const verdict =
      old &&
      judgeReenrollment({
        hostTeam: old.team_id,
        secretTeam: teamId,
        isProved: false,
        globalSecret: settings.global_reenroll,
      });
    if (old && verdict === "refused") return { refused: old };
    const host = old
      ? await again(inside, old, sibling ? sibling.identifier : renewedIdentifier(byIdentifier, old), reported)
      : await create(inside, storedIdentifier(identifier), reported, teamId);
    if (verdict === "moves") await moveEnrolledHosts({ ...ctx, store, agent: "managed_agent" }, [host], teamId);
    await store.managedAgents.upsert([{ id: host.id, agent_key_hash: tokenHash(key), enrolled_at: now }], {
      on: ["id"],
    });
    await endPendingActions({ store, clock }, [host.id]);
    await store.notify(channels.hosts, hostsPayload([host.id]));
    return { key };
  };
  return ctx.store.tx(work, limit === undefined ? {} : { lock: "enroll" });
}

const enrolledElsewhere = () => {
  const reason = `enroll host failed: ${ENROLLED_ELSEWHERE}`;
  return new ApiError(403, reason, [{ name: "base", reason }]);
};

const noRoom = (limit: number) => {
  const reason = `enroll host failed: maximum number of hosts reached: ${limit}`;
  return new ApiError(403, reason, [{ name: "base", reason }]);
};

type Reported = ReturnType<typeof reportedBy>;

const reportedBy = ({
  hardware_uuid,
  hardware_serial,
  hostname,
  platform,
  computer_name,
  hardware_model,
}: EnrollBody) => ({
  uuid: hardware_uuid.trim(),
  // Some boards report "-1" if they have no serial number.
  hardware_serial: hardware_serial.trim() === "-1" ? "" : hardware_serial.trim(),
  hostname: hostname.trim(),
  platform: platform.trim(),
  computer_name: computer_name.trim(),
  hardware_model: hardware_model.trim(),
});

async function create(ctx: Context, identifier: string, reported: Reported, teamId: number | null): Promise<HostRow> {
  const { store, clock } = ctx;
  const now = clock.iso();
  const host = await store.hosts.insert({
    ...reported,
    identifier,
    display_name: displayName(reported),
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
  if (label) await notifyMembersChanged(store, [label.id]);
  await recordActivity(
    { ...ctx, user: service },
    "svc_enrolled",
    { host_id: host.id, host_serial: host.hardware_serial, host_display_name: host.display_name },
    { hostId: host.id },
  );
  return host;
}

/** Keeps stored values, since those of the stock agent are more accurate. */
async function again(
  { store, clock }: Context,
  old: HostRow,
  identifier: string,
  reported: Reported,
): Promise<HostRow> {
  const filled = Object.fromEntries(
    Object.entries(reported).map(([column, value]) => [column, old[column as keyof Reported] || value]),
  ) as Reported;
  const now = clock.iso();
  const set = {
    ...filled,
    identifier,
    display_name: old.display_name || displayName(filled),
  };
  // The team on which the decision was based.
  const changed = await store.hosts.update({
    where: and(eq("id", old.id), eq("team_id", old.team_id)),
    set: { ...set, last_enrolled_at: now, updated_at: now },
  });
  if (changed === 0) throw new Outdated();
  return { ...old, ...set };
}
