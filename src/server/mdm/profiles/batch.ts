// Replaces all profiles of a team: those that are not in the list are deleted, those with the same identifier changed.
import type { z } from "zod";
import type { BatchItem, profilesApi } from "../../../api/profiles.ts";
import { bytesOfBase64 } from "../../../text/base64.ts";
import { type Entry, recordEntries } from "../../activities/record.ts";
import { type Context, within } from "../../core/context.ts";
import { badRequest, invalid, notFound } from "../../core/errors.ts";
import { inTeam } from "../../core/security/access.ts";
import { eq } from "../../store/query.ts";
import { teamFor } from "./access.ts";
import { type ProfileRow, platformOf } from "./platform.ts";
import { checkOneTeam, nameTaken, readUpload, resolveLabels, type Upload } from "./rules.ts";
import {
  addProfiles,
  CHANGES,
  type ChangedProfile,
  changeProfiles,
  type NewProfile,
  removeProfiles,
} from "./service.ts";

type Query = z.output<typeof profilesApi.batch.query>;
type Body = z.output<typeof profilesApi.batch.body>;

export async function replaceProfiles(ctx: Context, query: Query, body: Body): Promise<Record<string, never>> {
  checkOneTeam(query);
  const team = await teamFor(ctx, "profiles:write", await teamIdOf(ctx, query));
  const items = body.configuration_profiles ?? body.profiles;
  if (items === undefined) throw badRequest("configuration_profiles is required", "configuration_profiles");
  const uploads = await readAll(ctx, items);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const before = await store.configurationProfiles.list({ where: inTeam(team.team_id ?? 0) });
    const known = new Map(before.map((row) => [keyOf(row.platform, row.identifier), row]));
    const added: NewProfile[] = [];
    const changes: ChangedProfile[] = [];
    for (const [i, upload] of uploads.entries()) {
      const labels = (await resolveLabels(inside, items[i]!)) ?? [];
      const profile = known.get(keyOf(upload.platform.name, upload.identifier));
      // Another kind of profile with the same identifier takes the place of the old one.
      if (profile !== undefined && profile.kind === upload.kind) {
        known.delete(keyOf(profile.platform, profile.identifier));
        changes.push({ profile, upload, labels });
      } else added.push({ upload, labels });
    }
    const removed = [...known.values()];
    await removeProfiles(inside, removed);
    await renameApart(inside, changes);
    const changed = await changeProfiles(inside, changes);
    const made = await addProfiles(inside, team.team_id, added);
    const kinds = new Map([...removed, ...changed, ...made].map((row) => [`${row.platform} ${row.kind}`, row]));
    const entries: Entry[] = [...kinds.values()].map(({ platform, kind }) =>
      platformOf(ctx, platform).edited(kind, team),
    );
    await recordEntries(inside, entries);
  }, CHANGES);
  return {};
}

async function teamIdOf({ store }: Context, { team_id, team_name }: Query): Promise<number | undefined> {
  if (team_name === undefined) return team_id;
  const team = await store.teams.first({ where: eq("name", team_name) });
  if (!team) throw notFound("team", team_name);
  return team.id;
}

const keyOf = (platform: string, identifier: string): string => `${platform} ${identifier}`;

async function readAll(ctx: Context, items: readonly BatchItem[]): Promise<Upload[]> {
  const uploads: Upload[] = [];
  const names = new Map<string, number>();
  const identifiers = new Map<string, number>();
  for (const [i, item] of items.entries()) {
    const field = `configuration_profiles.${i}`;
    const bytes = bytesOfBase64(item.profile);
    if (bytes === null) throw invalid(field, "the profile is not base64");
    const upload = await readUpload(ctx, bytes, item.display_name ?? item.name ?? null, field);
    const { name, identifier } = upload;
    if (names.has(name)) throw invalid(field, `the name ${JSON.stringify(name)} occurs more than once in the list`);
    const key = keyOf(upload.platform.name, identifier);
    if (identifiers.has(key))
      throw invalid(field, `the identifier ${JSON.stringify(identifier)} occurs more than once in the list`);
    names.set(name, i);
    identifiers.set(key, i);
    uploads.push(upload);
  }
  return uploads;
}

/** Profiles that exchange their names get provisional ones first. */
async function renameApart({ store }: Context, changes: readonly ChangedProfile[]): Promise<void> {
  const names = new Map(changes.map(({ profile }): [string, ProfileRow] => [profile.name, profile]));
  for (const { profile, upload } of changes) {
    const holder = upload === null || upload.name === profile.name ? undefined : names.get(upload.name);
    if (holder === undefined) continue;
    if (upload === null) throw nameTaken(profile.name);
    await store.configurationProfiles.update({
      where: eq("id", holder.id),
      set: { name: `${holder.uuid} (renaming)` },
    });
  }
}
