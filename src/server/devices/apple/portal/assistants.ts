// Setup assistant profiles of teams.
import type { SetSetupAssistant, SetupAssistant } from "../../../../api/devices/setup-assistants.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { type FieldError, invalid, invalidFields, notFound } from "../../../platform/core/errors.ts";
import { authorize } from "../../../platform/core/security/access.ts";
import { eq } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { getTeamRow } from "../../../settings/teams/access.ts";
import { requireAppleMdm } from "../../gate.ts";
import { defaultAssistant, digestOf, profileUuid, teamKey, wholeProfile } from "./assign.ts";
import { PortalError } from "./client.ts";
import type { setupAssistants } from "./tables.ts";
import { clientOf } from "./tokens.ts";

/** Keys that only the server can fill in. */
const reserved = ["url", "configuration_web_url", "await_device_configured"];
const texts = [
  "profile_name",
  "org_magic",
  "language",
  "region",
  "department",
  "support_phone_number",
  "support_email_address",
];
const switches = ["is_supervised", "is_mandatory", "is_mdm_removable", "allow_pairing", "auto_advance_setup"];
const lists = ["anchor_certs", "supervising_host_certs", "skip_setup_items"];

const MAX_BYTES = 256 * 1024;

/** Other keys are passed on: the portal knows them, and newer ones. */
export function checkProfile(profile: Readonly<Record<string, unknown>>): void {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(profile)) {
    const name = `enrollment_profile.${key}`;
    if (reserved.includes(key)) errors.push({ name, reason: "is filled in by the server: remove it" });
    else if (texts.includes(key) && typeof value !== "string") errors.push({ name, reason: "must be text" });
    else if (switches.includes(key) && typeof value !== "boolean")
      errors.push({ name, reason: "must be true or false" });
    else if (lists.includes(key) && !(Array.isArray(value) && value.every((element) => typeof element === "string")))
      errors.push({ name, reason: "must be a list of texts" });
  }
  if (errors.length > 0) throw invalidFields(errors);
  if (Buffer.byteLength(JSON.stringify(profile)) > MAX_BYTES)
    throw invalid("enrollment_profile", `must be at most ${MAX_BYTES} bytes`);
}

/** Null: hosts without a team. */
async function chosenTeam(ctx: Context, action: "setup:read" | "setup:write", teamId: number | null | undefined) {
  if (!teamId) {
    authorize(ctx, action, null);
    return null;
  }
  return getTeamRow(ctx, action, teamId);
}

export type SetupAssistantRow = RowOf<typeof setupAssistants>;

interface NamedTeam {
  readonly id: number;
  readonly name: string;
}

const view = (row: SetupAssistantRow): SetupAssistant => ({
  team_id: row.team_id,
  name: row.name,
  uploaded_at: row.uploaded_at,
  enrollment_profile: row.enrollment_profile as SetupAssistant["enrollment_profile"],
});

export async function setAssistant(ctx: Context, input: SetSetupAssistant): Promise<SetupAssistant> {
  const team = await chosenTeam(ctx, "setup:write", input.team_id);
  await requireAppleMdm(ctx);
  const { name, enrollment_profile } = input;
  checkProfile(enrollment_profile);
  await tryProfile(ctx, enrollment_profile, team?.id ?? null);
  const row = await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    if (team) await getTeamRow(inside, "setup:write", team.id);
    return keepAssistant(inside, team, { name, enrollment_profile });
  });
  return view(row);
}

/** Null: hosts without a team. */
export async function keepAssistant(
  inside: Context,
  team: NamedTeam | null,
  profile: Pick<SetupAssistantRow, "name" | "enrollment_profile">,
): Promise<SetupAssistantRow> {
  const team_key = teamKey(team?.id ?? null);
  const [written] = await inside.store.setupAssistants.upsert(
    [{ team_key, team_id: team?.id ?? null, uploaded_at: inside.clock.iso(), ...profile }],
    { on: ["team_key"] },
  );
  await recordActivity(inside, "changed_macos_setup_assistant", { name: profile.name, ...teamDetails(team) });
  return written!;
}

export async function dropAssistant(
  inside: Context,
  team: NamedTeam | null,
  { id, name }: SetupAssistantRow,
): Promise<void> {
  await inside.store.setupAssistants.delete(eq("id", id));
  await recordActivity(inside, "deleted_macos_setup_assistant", { name, ...teamDetails(team) });
}

const teamDetails = (team: NamedTeam | null) => ({
  team_id: team?.id ?? null,
  team_name: team?.name ?? null,
});

/**
 * Defines the profile at the portal, which alone knows all rules. What it refuses is not stored. If it cannot be reached,
 * the profile is stored and defined when it is assigned.
 */
export async function tryProfile(
  ctx: Context,
  profile: Readonly<Record<string, unknown>>,
  teamId: number | null,
): Promise<void> {
  if (ctx.dryRun !== null) return;
  const token = await ctx.store.abmTokens.first({ where: eq("token_invalid", false) });
  if (!token) return;
  try {
    await profileUuid(ctx, clientOf(ctx, token), token, await wholeProfile(ctx, profile, teamId));
  } catch (error) {
    if (!(error instanceof PortalError)) throw error;
    if (error.problem === "refused") throw invalid("enrollment_profile", error.message);
  }
}

async function assistantOf(ctx: Context, action: "setup:read" | "setup:write", teamId: number | undefined) {
  const team = await chosenTeam(ctx, action, teamId);
  const row = await ctx.store.setupAssistants.first({ where: eq("team_key", teamKey(team?.id ?? null)) });
  if (!row) throw notFound("setup assistant profile of team", teamId ?? 0);
  return { team, row };
}

/** The rights are checked first: those who may not know of the team learn nothing else. */
async function admit(ctx: Context, action: "setup:read" | "setup:write", teamId: number | undefined): Promise<void> {
  await chosenTeam(ctx, action, teamId);
  await requireAppleMdm(ctx);
}

export async function getAssistant(ctx: Context, teamId: number | undefined): Promise<SetupAssistant> {
  await admit(ctx, "setup:read", teamId);
  return view((await assistantOf(ctx, "setup:read", teamId)).row);
}

export async function deleteAssistant(ctx: Context, teamId: number | undefined): Promise<Record<string, never>> {
  await admit(ctx, "setup:write", teamId);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const { team, row } = await assistantOf(inside, "setup:write", teamId);
    await dropAssistant(inside, team, row);
  });
  return {};
}

/** The profile of teams without one of their own. */
export async function getDefaultAssistant(ctx: Context) {
  await requireAppleMdm(ctx);
  const digest = digestOf(await wholeProfile(ctx, defaultAssistant));
  const used = await ctx.store.portalProfiles.first({ where: eq("digest", digest) });
  return {
    updated_at: used?.created_at ?? null,
    enrollment_profile: defaultAssistant as SetupAssistant["enrollment_profile"],
  };
}
