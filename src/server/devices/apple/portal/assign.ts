// Defines setup assistant profiles at the portal, and assigns to each device that of its host's team.
import { createHash } from "node:crypto";
import { automaticEnrollApi } from "../../../../api/devices/apple-enroll.ts";
import { setPortalError } from "../../../hosts/mdm-status/expected.ts";
import { canonical } from "../../../platform/activities/chain.ts";
import { isoAt, minutes, seconds } from "../../../platform/core/clock.ts";
import type { Context, Services } from "../../../platform/core/context.ts";
import { linkTo } from "../../../platform/core/http/links.ts";
import { serverSecret } from "../../../platform/shared-rows/secrets.ts";
import { and, eq, gt, isNull, lte, oneOf, or } from "../../../platform/store/query.ts";
import { deviceUrl } from "../trust/service.ts";
import { BATCH_SIZE, type PortalClient } from "./client.ts";
import { type DeviceRow, teamOf } from "./devices.ts";
import { endUsersSignIn } from "./end-users.ts";
import type { AssignResponse } from "./tables.ts";
import type { AbmTokenRow } from "./tokens.ts";

/** What hosts get whose team has no setup assistant profile of its own. */
export const defaultAssistant: Readonly<Record<string, unknown>> = {
  profile_name: "svc default enrollment profile",
  org_magic: "1",
  is_supervised: true,
  is_mandatory: true,
  is_mdm_removable: false,
  allow_pairing: true,
  auto_advance_setup: false,
};

/** A failed assignment is repeated after an hour. */
const RETRY = minutes(60);

export const teamKey = (teamId: number | null): string => (teamId === null ? "none" : String(teamId));

export const digestOf = (profile: Readonly<Record<string, unknown>>): string =>
  createHash("sha256").update(canonical(profile)).digest("hex");

/** Where the setup assistant lets the user sign in. */
export const END_USER_PAGE = "/mdm/sso";

/** Setup assistant profiles contain it, so only devices that the portal assigns know it. */
export const enrollToken = (services: Pick<Context, "store" | "clock" | "random">): Promise<string> =>
  serverSecret(services, "automatic enrollment");

/** The profile as the portal gets it: with the addresses of this server. */
export async function wholeProfile(
  services: Pick<Context, "store" | "settings" | "config" | "clock" | "random">,
  command: Readonly<Record<string, unknown>>,
  teamId: number | null = null,
): Promise<Record<string, unknown>> {
  const query = `?${new URLSearchParams({ token: await enrollToken(services) })}`;
  const at = async (path: string): Promise<string> =>
    (await deviceUrl(services, `${path}${query}`)) ?? linkTo(services, `${path}${query}`);
  return {
    ...command,
    url: await at(automaticEnrollApi.post.path),
    ...((await endUsersSignIn(services, teamId)) ? { configuration_web_url: await at(END_USER_PAGE) } : {}),
    // The device waits until it has been set up, and is then released.
    await_device_configured: true,
  };
}

/** The portal's id of a profile, which is defined if the portal does not have it yet. */
export async function profileUuid(
  { store, clock }: Pick<Context, "store" | "clock">,
  client: PortalClient,
  token: Pick<AbmTokenRow, "id">,
  profile: Readonly<Record<string, unknown>>,
): Promise<string> {
  const digest = digestOf(profile);
  const existing = await store.portalProfiles.first({ where: and(eq("token_id", token.id), eq("digest", digest)) });
  if (existing) return existing.profile_uuid;
  const profile_uuid = await client.defineProfile(profile);
  await store.portalProfiles.upsert([{ created_at: clock.iso(), token_id: token.id, digest, profile_uuid }], {
    on: ["token_id", "digest"],
    set: ["profile_uuid"],
    returning: [],
  });
  return profile_uuid;
}

/** Assigns profiles to the token's devices that have none or another one. Returns how many got theirs. */
export async function assignProfiles(
  services: Services,
  client: PortalClient,
  token: AbmTokenRow,
  signal: AbortSignal,
): Promise<number> {
  const { store } = services;
  const uploaded = new Map((await store.setupAssistants.list()).map((row) => [row.team_key, row.enrollment_profile]));
  const uuids = new Map<string, string>();
  const uuidFor = async (teamId: number | null): Promise<string> => {
    const key = teamKey(teamId);
    const cached = uuids.get(key);
    if (cached !== undefined) return cached;
    const profile = await wholeProfile(services, uploaded.get(key) ?? defaultAssistant, teamId);
    const uuid = await profileUuid(services, client, token, profile);
    uuids.set(key, uuid);
    return uuid;
  };
  let assigned = 0;
  for (let last = 0; !signal.aborted; ) {
    const rows = await store.portalDevices.list({
      where: and(
        eq("token_id", token.id),
        isNull("deleted_at"),
        gt("id", last),
        or(isNull("retry_at"), lte("retry_at", services.clock.iso())),
      ),
      limit: BATCH_SIZE,
    });
    if (rows.length === 0) break;
    last = rows.at(-1)!.id;
    const teams = await teamsOf(services, rows);
    const wanting = new Map<string, DeviceRow[]>();
    for (const row of rows) {
      const team = row.host_id === null ? teamOf(token, row.family) : (teams.get(row.host_id) ?? null);
      const uuid = await uuidFor(team);
      if (row.profile_uuid === uuid && row.response === "SUCCESS") continue;
      wanting.set(uuid, [...(wanting.get(uuid) ?? []), row]);
    }
    for (const [uuid, devices] of wanting) assigned += await assign(services, client, uuid, devices);
  }
  return assigned;
}

async function teamsOf({ store }: Services, rows: readonly DeviceRow[]): Promise<ReadonlyMap<number, number | null>> {
  const where = oneOf(
    "id",
    rows.flatMap(({ host_id }) => host_id ?? []),
  );
  const hosts = await store.hosts.pick(["id", "team_id"], { where });
  return new Map(hosts.map(({ id, team_id }) => [id, team_id]));
}

async function assign(
  { store, clock }: Services,
  client: PortalClient,
  profile_uuid: string,
  devices: readonly DeviceRow[],
): Promise<number> {
  const { responses, retryAfter } = await client.assign(
    profile_uuid,
    devices.map(({ serial }) => serial),
  );
  const now = clock.now();
  const outcome = (row: DeviceRow): AssignResponse => {
    const response = responses.get(row.serial);
    // A device that the reply does not name was not assigned.
    return response === "SUCCESS" || response === "NOT_ACCESSIBLE" || response === "THROTTLED" ? response : "FAILED";
  };
  const outcomes = devices.map((row) => ({ row, response: outcome(row) }));
  const delayOf = (response: AssignResponse): number =>
    response === "THROTTLED" && retryAfter !== null ? seconds(retryAfter) : RETRY;
  await store.tx(async (tx) => {
    await tx.portalDevices.updateEach(
      outcomes.map(({ row, response }) => ({
        id: row.id,
        profile_uuid: response === "SUCCESS" ? profile_uuid : row.profile_uuid,
        response,
        response_at: isoAt(now),
        retry_at: response === "SUCCESS" ? null : isoAt(now + delayOf(response)),
      })),
    );
    const hostsWith = (...responses: AssignResponse[]) =>
      outcomes.flatMap(({ row, response }) => (responses.includes(response) ? (row.host_id ?? []) : []));
    await setPortalError(tx, hostsWith("FAILED", "NOT_ACCESSIBLE"), true);
    await setPortalError(tx, hostsWith("SUCCESS"), false);
  });
  return outcomes.filter(({ response }) => response === "SUCCESS").length;
}
