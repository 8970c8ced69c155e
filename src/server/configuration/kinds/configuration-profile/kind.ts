import { contentsOf } from "../../../mdm/profiles/contents.ts";
import { labelsOfProfiles } from "../../../mdm/profiles/scope.ts";
import { CHANGES } from "../../../mdm/profiles/service.ts";
import { and, eq, isNull } from "../../../store/query.ts";
import type { Kind } from "../../kind.ts";
import { inPages, ofTier, PAGE } from "../../shared-rows.ts";
import { type ProfileRows, type ProfileUploads, type ProfileWanted, profileThings, readProfile } from "./value.ts";
import { readUploads, writeProfiles } from "./write.ts";

/** Profiles of hosts without a team belong to the organization, as all controls of these hosts do. */
export const configurationProfile: Kind<ProfileRows, ProfileWanted, ProfileUploads> = {
  name: "configuration_profile",
  owners: ["global", "team"],
  per: "many",
  lock: CHANGES.lock,
  action: () => "profiles:write",
  async load(ctx) {
    const where = and(ofTier(ctx, "profiles:write", isNull("team_id")), eq("is_own", false));
    const profiles = await inPages(ctx.store.configurationProfiles.pages({ where }, PAGE));
    const labels = await labelsOfProfiles(
      ctx.store,
      profiles.map(({ id }) => id),
    );
    return { profiles, labels };
  },
  things: profileThings,
  async contents({ store }, { profiles }) {
    const contents = await contentsOf(
      store,
      profiles.map(({ id }) => id),
    );
    return new Map(profiles.flatMap(({ id, checksum }) => (contents.has(id) ? [[checksum, contents.get(id)!]] : [])));
  },
  read: readProfile,
  prepare: readUploads,
  write: writeProfiles,
};
