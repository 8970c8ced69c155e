// The apps of the managed Play store that a team offers, as entries of `applications` in the policies of its devices.
import { isRecord } from "../../../../text/record.ts";
import { inScope, labelsOfHost } from "../../../hosts/labels/scope.ts";
import { scopeOf } from "../../../hosts/labels/targeting.ts";
import { groupBy } from "../../../platform/core/maps.ts";
import { inTeam } from "../../../platform/core/security/access.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../../platform/store/query.ts";

type Entry = Readonly<Record<string, unknown>> & { readonly packageName: string };

/** An app that a team offers. */
export interface OfferedToTeam {
  readonly entry: Entry;
  readonly scope: ReturnType<typeof scopeOf>;
}

/** In the order of the apps' package names, so that the same apps have the same digest. */
export async function appsOfTeam(
  store: Pick<ServerTx, "storeApps" | "storeAppLabels">,
  teamId: number | null,
): Promise<OfferedToTeam[]> {
  const where = and(inTeam(teamId ?? 0), eq("platform", "android"));
  const rows = await store.storeApps.list({ where, order: [{ column: "adam_id", direction: "asc" }] });
  const ids = rows.map(({ id }) => id);
  const labels = ids.length === 0 ? [] : await store.storeAppLabels.list({ where: oneOf("store_app_id", ids) });
  const byApp = groupBy(labels, ({ store_app_id }) => store_app_id);
  return rows
    .filter((row) => row.self_service || row.install_during_setup)
    .map((row) => ({
      entry: {
        packageName: row.adam_id,
        // Users can remove an app that was installed during the setup, and get the others from the store.
        installType: row.install_during_setup ? "PREINSTALLED" : "AVAILABLE",
        ...settingsOf(row.configuration),
      },
      scope: scopeOf(byApp.get(row.id) ?? []),
    }));
}

/** Settings of the app itself, or of the entry with the settings in its `managedConfiguration`. */
function settingsOf(configuration: string): Readonly<Record<string, unknown>> {
  if (configuration === "") return {};
  const value = JSON.parse(configuration) as Readonly<Record<string, unknown>>;
  return isRecord(value.managedConfiguration) ? value : { managedConfiguration: value };
}

type Policy = Readonly<Record<string, unknown>>;

/** The policy with the apps that are for the host. What a profile says of an app counts more. */
export async function withStoreApps(
  store: Pick<ServerTx, "labelMembers">,
  policy: Policy,
  apps: readonly OfferedToTeam[],
  host: { readonly id: number; readonly label_updated_at: string | null },
): Promise<Policy> {
  if (apps.length === 0) return policy;
  const memberOf = await labelsOfHost(store, host.id);
  const teamApps = apps.filter(
    ({ scope }) => (scope.exclude_any.length === 0 || host.label_updated_at !== null) && inScope(memberOf, scope),
  );
  const applications: unknown[] = Array.isArray(policy.applications) ? policy.applications : [];
  const nameOf = (application: unknown) => (isRecord(application) ? application.packageName : undefined);
  const offered = new Map(teamApps.map(({ entry }) => [entry.packageName, entry]));
  const merged = applications.map((application) => {
    const entry = offered.get(String(nameOf(application)));
    return entry && isRecord(application) ? { ...entry, ...application } : application;
  });
  const named = new Set(applications.map(nameOf));
  const more = teamApps.flatMap(({ entry }) => (named.has(entry.packageName) ? [] : [entry]));
  return merged.length + more.length === 0 ? policy : { ...policy, applications: [...merged, ...more] };
}
