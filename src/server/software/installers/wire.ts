// Packages as replies show them.
import { fullPath } from "../../../api/paths.ts";
import { fieldNames, pick } from "../../../api/plain-fields.ts";
import {
  type InstallCounts,
  type ListedPackage,
  type Package,
  type PatchPolicy,
  packageFields,
  packageScripts,
  packagesApi,
} from "../../../api/software/packages.ts";
import type { PolicyRow } from "../../checks/policies/applies.ts";
import { shownTargets, targetLists } from "../../hosts/labels/targeting.ts";
import type { Context } from "../../platform/core/context.ts";
import { groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, oneOf } from "../../platform/store/query.ts";
import { type Installer, labelsOfInstallers } from "./hosts.ts";

const columnsOnWire = [...packageScripts, "pre_install_query", ...fieldNames(packageFields)] as const;

const NO_HOSTS: InstallCounts = {
  installed: 0,
  pending_install: 0,
  failed_install: 0,
  pending_uninstall: 0,
  failed_uninstall: 0,
};

type InstallPolicies = NonNullable<Package["automatic_install_policies"]>;
/** A package, or a store app. */
type OfferedPackage = Pick<Installer, "id" | "team_id" | "title_id">;

/** By the package's id: the policies that install it. */
export async function policiesOf(
  store: ServerTx,
  installers: readonly OfferedPackage[],
): Promise<ReadonlyMap<number, InstallPolicies>> {
  const titles = installers.map(({ title_id }) => title_id);
  const rows = await store.policies.pick(["id", "name", "type", "scope", "team_id", "software_title_id"], {
    where: oneOf("software_title_id", titles),
    order: [{ column: "id", direction: "asc" }],
  });
  const byPlace = groupBy(rows, ({ team_id, software_title_id }) => `${team_id} ${software_title_id}`);
  return new Map(
    installers.map(({ id, team_id, title_id }) => [
      id,
      (byPlace.get(`${team_id} ${title_id}`) ?? []).map(({ id, name, type }) => ({ id, name, type })),
    ]),
  );
}

/** The policies that keep these packages up to date, by the ids of the packages. */
async function patchPoliciesOf(store: ServerTx, rows: readonly Installer[]): Promise<ReadonlyMap<number, PatchPolicy>> {
  const apps = [...new Set(rows.flatMap(({ catalogue_app_id }) => catalogue_app_id ?? []))];
  if (apps.length === 0) return new Map();
  const policies = await store.policies.list({ where: oneOf("catalogue_app_id", apps) });
  const ofPlace = new Map(policies.map((policy) => [`${policy.team_id} ${policy.catalogue_app_id}`, policy]));
  return new Map(
    rows.flatMap(({ id, team_id, catalogue_app_id }) => {
      const policy = ofPlace.get(`${team_id} ${catalogue_app_id}`);
      return policy ? [[id, patchPolicyOnWire(policy)] as const] : [];
    }),
  );
}

const patchPolicyOnWire = (policy: PolicyRow): PatchPolicy => ({
  id: policy.id,
  name: policy.name,
  install_software: policy.software_title_id !== null,
  patch_when_closed: policy.patch_when_closed,
  notify_before_patching: policy.notify_before_patching,
});

export const policiesThatInstall = async (store: ServerTx, installer: Installer): Promise<InstallPolicies> =>
  (await policiesOf(store, [installer])).get(installer.id) ?? [];

export const orNull = <T>(list: readonly T[]): T[] | null => (list.length === 0 ? null : [...list]);

/** On how many hosts each package is in which state. */
async function countInstalls(
  store: ServerTx,
  installers: readonly Pick<Installer, "id">[],
): Promise<ReadonlyMap<number, InstallCounts>> {
  const counted = await Promise.all(
    installers.map(async ({ id }) => {
      const counts = { installed: 0, pending_install: 0, failed_install: 0, pending_uninstall: 0, failed_uninstall: 0 };
      for (const { value, count } of await store.softwareInstalls.groupCount("status", eq("installer_id", id)))
        counts[value as keyof InstallCounts] = count;
      return [id, counts] as const;
    }),
  );
  return new Map(counted);
}

/** In the order of the rows. */
export async function packagesOnWire(
  { store }: Pick<Context, "store">,
  rows: readonly Installer[],
): Promise<Package[]> {
  const labels = await labelsOfInstallers(
    store,
    rows.map(({ id }) => id),
  );
  const [show, policies, patches, counts] = [
    await shownTargets(store, [...labels.values()].flat()),
    await policiesOf(store, rows),
    await patchPoliciesOf(store, rows),
    await countInstalls(store, rows),
  ];
  return rows.map((row): Package => {
    const lists = targetLists(labels.get(row.id) ?? [], show);
    return {
      team_id: row.team_id ?? 0,
      title_id: row.title_id,
      installer_id: row.id,
      name: row.file_name,
      version: row.version,
      platform: row.platform,
      url: row.url,
      uploaded_at: row.uploaded_at,
      ...pick(row, columnsOnWire),
      ...(row.configuration === "" ? {} : { configuration: row.configuration }),
      hash_sha256: row.sha256,
      status: counts.get(row.id) ?? NO_HOSTS,
      svc_maintained_app_id: row.catalogue_app_id,
      ...(row.pinned_version === "" ? {} : { pinned_version: row.pinned_version }),
      automatic_install_policies: orNull(policies.get(row.id) ?? []),
      patch_policy: patches.get(row.id) ?? null,
      categories: orNull(row.categories),
      labels_include_all: lists.labels_include_all ?? null,
      labels_include_any: lists.labels_include_any ?? null,
      labels_exclude_any: lists.labels_exclude_any ?? null,
    };
  });
}

/** For lists of titles. In the order of the rows. */
export async function packagesInLists(store: ServerTx, rows: readonly Installer[]): Promise<ListedPackage[]> {
  const policies = await policiesOf(store, rows);
  return rows.map((row) => ({
    name: row.file_name,
    version: row.version,
    platform: row.platform,
    self_service: row.self_service,
    automatic_install_policies: orNull(policies.get(row.id) ?? []),
    package_url: `${fullPath(packagesApi.download, "latest").replace(":id", String(row.title_id))}?alt=media&team_id=${row.team_id ?? 0}`,
    last_install: null,
    last_uninstall: null,
  }));
}
