// Replaces all profiles of a team: those that are not in the list are deleted, those with the same identifier changed.
import type { z } from "zod";
import type { BatchItem, profilesApi } from "../../../api/devices/profiles.ts";
import { bytesOfBase64 } from "../../../text/base64.ts";
import { resolveTargets } from "../../hosts/labels/targeting.ts";
import { type Entry, recordEntries } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { badRequest, invalid, locatedAt } from "../../platform/core/errors.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import { and, eq } from "../../platform/store/query.ts";
import { teamIdGiven } from "../../settings/teams/access.ts";
import { teamFor } from "./access.ts";
import { exchangeProfiles, keyOf } from "./exchange.ts";
import { platformOf } from "./platform.ts";
import { readUpload, type Upload } from "./rules.ts";
import { type NewProfile, PROFILE_LOCK_OPTIONS } from "./service.ts";

type Query = z.output<typeof profilesApi.batch.query>;
type Body = z.output<typeof profilesApi.batch.body>;

export async function replaceProfiles(ctx: Context, query: Query, body: Body): Promise<Record<string, never>> {
  const team = await teamFor(ctx, "profiles:write", await teamIdGiven(ctx, query));
  const list = body.configuration_profiles === undefined ? "profiles" : "configuration_profiles";
  const items = body[list];
  if (items === undefined) throw badRequest("configuration_profiles is required", "configuration_profiles");
  const uploads = await readAll(ctx, items, list);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const ofUsers = and(inTeam(team.team_id ?? 0), eq("is_own", false));
    const before = await store.configurationProfiles.list({ where: ofUsers });
    const profiles: NewProfile[] = [];
    for (const [i, upload] of uploads.entries())
      profiles.push({
        upload,
        labels: (await locating(upload.field, resolveTargets(inside, items[i]!, "profile"))) ?? [],
      });
    const changed = await exchangeProfiles(inside, team.team_id, before, profiles);
    const kinds = new Map(changed.map((row) => [`${row.platform} ${row.kind}`, row]));
    const entries: Entry[] = [...kinds.values()].map(({ platform, kind }) =>
      platformOf(ctx, platform).edited(kind, team),
    );
    await recordEntries(inside, entries);
  }, PROFILE_LOCK_OPTIONS);
  return {};
}

/** Errors name the entry of the list. */
const locating = <R>(field: string, work: Promise<R>): Promise<R> =>
  work.catch((error: unknown) => {
    throw locatedAt(error, field);
  });

async function readAll(ctx: Context, items: readonly BatchItem[], list: string): Promise<Upload[]> {
  const uploads: Upload[] = [];
  const names = new Map<string, number>();
  const identifiers = new Map<string, number>();
  for (const [i, item] of items.entries()) {
    const field = `${list}.${i}`;
    const bytes = bytesOfBase64(item.profile);
    if (bytes === null) throw invalid(field, "the profile is not base64");
    const activation = item.activation === undefined ? null : bytesOfBase64(item.activation);
    if (item.activation !== undefined && activation === null)
      throw invalid(`${field}.activation`, "the activation is not base64");
    const files = { bytes, name: item.display_name ?? item.name ?? null, activation };
    const upload = await locating(field, readUpload(ctx, files, field));
    const { name, identifier } = upload;
    if (names.has(name)) throw invalid(field, `the name ${JSON.stringify(name)} occurs more than once in the list`);
    const key = keyOf(upload.platform.name, identifier);
    if (identifiers.has(key))
      throw invalid(field, `the identifier ${JSON.stringify(identifier)} occurs more than once in the list`);
    const { activation_identifier: activationId } = upload;
    if (activationId !== null && uploads.some(({ activation_identifier }) => activation_identifier === activationId))
      throw invalid(
        `${field}.activation`,
        `the identifier ${JSON.stringify(activationId)} occurs more than once in the list`,
      );
    names.set(name, i);
    identifiers.set(key, i);
    uploads.push(upload);
  }
  return uploads;
}
