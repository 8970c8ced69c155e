import type { ConfigurationProfile, ProfileLabel as WireLabel } from "../../../api/profiles.ts";
import type { ServerTx } from "../../core/tables.ts";
import { labelNames } from "../../labels/scope.ts";
import { activationsOf } from "./contents.ts";
import type { ProfileRow } from "./platform.ts";
import { labelsOfProfiles, type ProfileLabel } from "./scope.ts";
import type { LabelRule } from "./tables.ts";

/** The profiles for replies. Labels have their present names. */
export async function profilesOnWire(store: ServerTx, rows: readonly ProfileRow[]): Promise<ConfigurationProfile[]> {
  const labels = await labelsOfProfiles(
    store,
    rows.map(({ id }) => id),
  );
  const activations = await activationsOf(store, rows);
  const ids = [...labels.values()].flat().flatMap(({ label_id }) => label_id ?? []);
  const names = await labelNames(store, ids);
  const shown = (label: ProfileLabel): WireLabel =>
    label.label_id === null
      ? { name: label.name, broken: true }
      : { id: label.label_id, name: names.get(label.label_id)?.name ?? label.name };
  return rows.map((row) => {
    const own = labels.get(row.id) ?? [];
    const of = (rule: LabelRule) => own.filter((label) => label.rule === rule).map(shown);
    const [all, any, none] = [of("include_all"), of("include_any"), of("exclude_any")];
    return {
      profile_uuid: row.uuid,
      team_id: row.team_id ?? 0,
      name: row.name,
      platform: row.platform,
      identifier: row.identifier,
      created_at: row.created_at,
      updated_at: row.updated_at,
      uploaded_at: row.uploaded_at,
      checksum: row.checksum,
      ...(activations.has(row.id) ? { activation: activations.get(row.id)! } : {}),
      ...(own.length > 0 ? { labels: own.map(shown) } : {}),
      ...(all.length > 0 ? { labels_include_all: all } : {}),
      ...(any.length > 0 ? { labels_include_any: any } : {}),
      ...(none.length > 0 ? { labels_exclude_any: none } : {}),
    };
  });
}
