// Replaces several profiles of a team at once.

import { profilesExchanged } from "../../checks/policies/profiles.ts";
import type { Context } from "../../platform/core/context.ts";
import { eq } from "../../platform/store/query.ts";
import type { ProfileRow } from "./platform.ts";
import type { Upload } from "./rules.ts";
import { addProfiles, type ChangedProfile, changeProfiles, type NewProfile, removeProfiles } from "./service.ts";

export const keyOf = (platform: string, identifier: string): string => `${platform} ${identifier}`;

/**
 * Puts the wanted profiles in the place of those before: the same identifier means a change, also of the name. Returns
 * the profiles that were removed, changed or added.
 */
export async function exchangeProfiles(
  inside: Context,
  teamId: number | null,
  before: readonly ProfileRow[],
  desired: readonly NewProfile[],
): Promise<ProfileRow[]> {
  const existing = new Map(before.map((row) => [keyOf(row.platform, row.identifier), row]));
  const added: NewProfile[] = [];
  const changes: (ChangedProfile & { readonly upload: Upload })[] = [];
  for (const { upload, labels } of desired) {
    const key = keyOf(upload.platform.name, upload.identifier);
    const profile = existing.get(key);
    // Another kind of profile with the same identifier takes the place of the old one.
    if (profile !== undefined && profile.kind === upload.kind) {
      existing.delete(key);
      changes.push({ profile, upload, labels });
    } else added.push({ upload, labels });
  }
  const removed = [...existing.values()];
  await removeProfiles(inside, removed);
  await renameApart(inside, changes);
  const changed = await changeProfiles(inside, changes);
  const created = await addProfiles(inside, teamId, added);
  await profilesExchanged(inside.store, removed, created);
  return [...removed, ...changed, ...created];
}

/** Profiles that exchange their names get provisional ones first. */
async function renameApart(
  { store }: Context,
  changes: readonly { readonly profile: ProfileRow; readonly upload: Upload }[],
): Promise<void> {
  const names = new Map(changes.map(({ profile }): [string, ProfileRow] => [profile.name, profile]));
  for (const { profile, upload } of changes) {
    const holder = upload.name === profile.name ? undefined : names.get(upload.name);
    if (holder === undefined) continue;
    await store.configurationProfiles.update({
      where: eq("id", holder.id),
      set: { name: `${holder.uuid} (renaming)` },
    });
  }
}
