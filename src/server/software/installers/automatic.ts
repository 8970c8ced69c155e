// The policy that installs a package on hosts without it.
import type { PolicyCreated } from "../../../api/checks/policies.ts";
import { patchPolicyOf } from "../../checks/policies/patch.ts";
import { addPolicy, changePolicy, removePolicies } from "../../checks/policies/service.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { eq } from "../../platform/store/query.ts";
import type { TeamScope } from "../../settings/teams/access.ts";
import type { Installer } from "./hosts.ts";

export const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const list = (texts: readonly string[]): string => texts.map(quote).join(", ");

/** A query that hosts with the software answer with a row. Null: there is none for such packages. */
function detectionQuery(installer: Installer, title: string): string | null {
  switch (installer.kind) {
    case "deb":
      return linuxQuery("deb_packages", installer, title, " AND status LIKE '% ok installed'");
    case "rpm":
      return linuxQuery("rpm_packages", installer, title);
    case "msi":
      return programQuery(installer, title);
    case "pkg":
      return macQuery(installer);
    default:
      return null;
  }
}

/**
 * A host without such packages at all has another package system, and is left alone. A package that is held at its
 * version is installed.
 */
function linuxQuery(table: string, { package_ids }: Installer, title: string, condition = ""): string {
  const where = `name = ${quote(package_ids[0] ?? title)}${condition}`;
  return `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ${table}) OR EXISTS (SELECT 1 FROM ${table} WHERE ${where});`;
}

/** Codes of products change with their version, the upgrade code does not. */
function programQuery({ upgrade_code, package_ids: [productCode] }: Installer, title: string): string {
  if (upgrade_code !== "") return `SELECT 1 FROM programs WHERE upgrade_code = ${quote(upgrade_code)};`;
  const byCode = productCode === undefined ? "" : ` OR identifying_number = ${quote(productCode)}`;
  return `SELECT 1 FROM programs WHERE name = ${quote(title)}${byCode};`;
}

/** A package without an app leaves receipts only, and has no bundle identifier but that of its product. */
function macQuery({ bundle_identifier, package_ids, installs_app }: Installer): string | null {
  const app =
    bundle_identifier === "" || installs_app === false
      ? null
      : `SELECT 1 FROM apps WHERE bundle_identifier = ${quote(bundle_identifier)}`;
  const receipt =
    package_ids.length === 0 || installs_app === true
      ? null
      : `SELECT 1 FROM package_receipts WHERE package_id IN (${list(package_ids)})`;
  if (app !== null && receipt !== null) return `SELECT 1 WHERE EXISTS (${app}) OR EXISTS (${receipt});`;
  const query = app ?? receipt;
  return query && `${query};`;
}

/**
 * Runs in the caller's transaction, which holds the lock of policies. `detection`: a query that finds the software, if
 * one is known.
 */
export async function addInstallPolicy(inside: Context, installer: Installer, detection?: string): Promise<void> {
  const { store } = inside;
  const title = (await store.softwareTitles.get(installer.title_id))!.name;
  const query = detection ?? detectionQuery(installer, title);
  if (query === null)
    throw invalid(
      "automatic_install",
      `hosts cannot be asked whether a package of the type .${installer.kind} is installed: create a policy yourself`,
    );
  await addPolicyFor(inside, installer, { title, what: installer.kind, query });
}

interface InstallPolicy {
  readonly title: string;
  /** What it installs: the policy's name contains it. */
  readonly what: string;
  readonly query: string;
}

/** Runs in the caller's transaction, which holds the lock of policies. */
export async function addPolicyFor(
  inside: Context,
  { team_id, title_id, platform }: Pick<Installer, "team_id" | "title_id"> & { readonly platform: string },
  { title, what, query }: InstallPolicy,
): Promise<void> {
  const policy: PolicyCreated = {
    name: await freeName(inside, `[Install software] ${title} (${what})`),
    query,
    description: `Installs ${title} on hosts that do not have it.`,
    platform,
    software_title_id: title_id,
  };
  await addPolicy(inside, team_id ?? 0, policy);
}

interface Patching {
  readonly patch?: boolean | undefined;
  readonly patch_when_closed?: boolean | undefined;
  readonly notify_before_patching?: boolean | undefined;
}

const patchFields = ["patch", "patch_when_closed", "notify_before_patching"] as const;
export const mentionsPatching = (input: Patching): boolean => patchFields.some((field) => input[field] !== undefined);

/** Creates, changes or deletes the policy that keeps a maintained app up to date. In the same transaction. */
export async function setPatching(
  inside: Context,
  installer: Installer,
  team: TeamScope,
  { patch, patch_when_closed, notify_before_patching }: Patching,
): Promise<void> {
  const { store } = inside;
  const app = installer.catalogue_app_id === null ? null : await store.catalogueApps.get(installer.catalogue_app_id);
  if (app === null) throw invalid("patch", "only packages of maintained apps can be patched");
  const before = await patchPolicyOf(store, installer);
  if (patch === false) {
    if (before) await removePolicies(inside, [before], () => team.team_name);
    return;
  }
  const options = {
    ...(patch_when_closed === undefined ? {} : { patch_when_closed }),
    ...(notify_before_patching === undefined ? {} : { notify_before_patching }),
  };
  if (before) {
    await changePolicy(inside, before, { ...options, ...(patch ? { install_software: true } : {}) });
    return;
  }
  if (!patch) throw invalid("patch", "must be true: no policy patches the app yet");
  await addPolicy(inside, installer.team_id ?? 0, {
    name: await freeName(inside, `[Patch] ${app.name} (${app.platform})`),
    description: `Updates ${app.name} on hosts that have an older version.`,
    type: "patch",
    svc_maintained_app_slug: app.slug,
    install_software: true,
    patch_when_closed: true,
    ...options,
  });
}

/** Names of policies are unique in a team, and an earlier policy may have been kept. */
async function freeName({ store }: Context, desired: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? desired : `${desired} ${number}`;
    if ((await store.policies.count(eq("name", name))) === 0) return name;
  }
}
