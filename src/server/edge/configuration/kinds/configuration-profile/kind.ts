import { createHash } from "node:crypto";
import { activationsOf, contentsOf } from "../../../../devices/profiles/contents.ts";
import { labelsOfProfiles } from "../../../../devices/profiles/scope.ts";
import { PROFILE_LOCK_OPTIONS } from "../../../../devices/profiles/service.ts";
import { and, eq, isNull } from "../../../../platform/store/query.ts";
import type { Kind } from "../../kind.ts";
import { BATCH_SIZE, inPages, ofTier } from "../../shared-rows.ts";
import {
  type Activation,
  type DesiredProfile,
  type ProfileRows,
  type ProfileUploads,
  profileThings,
  readProfile,
} from "./value.ts";
import { readUploads, writeProfiles } from "./write.ts";

function activationIn(base64: string): Activation {
  const content = Buffer.from(base64, "base64");
  return { sha256: createHash("sha256").update(content).digest("hex"), content };
}

/** Profiles of hosts without a team belong to the organization, as all controls of these hosts do. */
export const configurationProfile: Kind<ProfileRows, DesiredProfile, ProfileUploads> = {
  name: "configuration_profile",
  owners: ["global", "team"],
  per: "many",
  lock: PROFILE_LOCK_OPTIONS.lock,
  action: () => "profiles:write",
  async load(ctx) {
    const where = and(ofTier(ctx, "profiles:write", isNull("team_id")), eq("is_own", false));
    const profiles = await inPages(ctx.store.configurationProfiles.pages({ where }, BATCH_SIZE));
    const labels = await labelsOfProfiles(
      ctx.store,
      profiles.map(({ id }) => id),
    );
    const activations = await activationsOf(ctx.store, profiles);
    return { profiles, labels, activations: new Map([...activations].map(([id, text]) => [id, activationIn(text)])) };
  },
  things: profileThings,
  async contents({ store }, { profiles, activations }) {
    const contents = await contentsOf(
      store,
      profiles.map(({ id }) => id),
    );
    return new Map([
      ...profiles.flatMap(({ id, checksum }) => (contents.has(id) ? [[checksum, contents.get(id)!] as const] : [])),
      ...[...activations.values()].map(({ sha256, content }) => [sha256, content] as const),
    ]);
  },
  read: readProfile,
  prepare: readUploads,
  write: writeProfiles,
};
