import type { ConfigurationProfile } from "../../../api/devices/profiles.ts";
import { shownTargets, targetLists } from "../../hosts/labels/targeting.ts";
import type { Context } from "../../platform/core/context.ts";
import { activationsOf } from "./contents.ts";
import { type ProfileRow, platformOf } from "./platform.ts";
import { labelsOfProfiles } from "./scope.ts";

/** The profiles for replies. Labels have their present names. */
export async function profilesOnWire(
  ctx: Pick<Context, "store" | "extensions">,
  rows: readonly ProfileRow[],
): Promise<ConfigurationProfile[]> {
  const { store } = ctx;
  const labels = await labelsOfProfiles(
    store,
    rows.map(({ id }) => id),
  );
  const activations = await activationsOf(store, rows);
  const shown = await shownTargets(store, [...labels.values()].flat());
  return rows.map((row) => {
    const profileLabels = labels.get(row.id) ?? [];
    return {
      profile_uuid: row.uuid,
      team_id: row.team_id ?? 0,
      name: row.name,
      platform: row.platform,
      ...(platformOf(ctx, row.platform).identifiedBy === "content" ? { identifier: row.identifier } : {}),
      created_at: row.created_at,
      updated_at: row.updated_at,
      uploaded_at: row.uploaded_at,
      checksum: row.checksum,
      ...(activations.has(row.id) ? { activation: activations.get(row.id)! } : {}),
      ...(profileLabels.length > 0 ? { labels: profileLabels.map(shown) } : {}),
      ...targetLists(profileLabels, shown),
    };
  });
}
