// The policy that installs a package on hosts without it.
import type { PolicyCreated } from "../../api/policies.ts";
import type { Context } from "../core/context.ts";
import { invalid } from "../core/errors.ts";
import { patchPolicyOf } from "../policies/patch.ts";
import { addPolicy, changePolicy, removePolicies } from "../policies/service.ts";
import { eq } from "../store/query.ts";
import type { TeamScope } from "../teams/access.ts";
import type { Installer } from "./hosts.ts";

export const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A query that hosts with the software answer with a row. Null: there is none for such packages. */
function detectionQuery(installer: Installer, title: string): string | null {
  const { kind, bundle_identifier, upgrade_code, package_ids } = installer;
  if (kind === "deb")
    return `SELECT 1 FROM deb_packages WHERE name = ${quote(title)} AND status = 'install ok installed';`;
  if (kind === "rpm") return `SELECT 1 FROM rpm_packages WHERE name = ${quote(title)};`;
  if (kind === "msi" && upgrade_code !== "")
    return `SELECT 1 FROM programs WHERE upgrade_code = ${quote(upgrade_code)};`;
  if (kind === "msi") return `SELECT 1 FROM programs WHERE name = ${quote(title)};`;
  if (kind !== "pkg") return null;
  if (bundle_identifier !== "") return `SELECT 1 FROM apps WHERE bundle_identifier = ${quote(bundle_identifier)};`;
  const [first] = package_ids;
  return first === undefined ? null : `SELECT 1 FROM package_receipts WHERE package_id = ${quote(first)};`;
}

/** Runs in the caller's transaction, which holds the lock of policies. `known`: a query for the software that is known. */
export async function addInstallPolicy(inside: Context, installer: Installer, known?: string): Promise<void> {
  const { store } = inside;
  const title = (await store.softwareTitles.get(installer.title_id))!.name;
  const query = known ?? detectionQuery(installer, title);
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
  const given: PolicyCreated = {
    name: await freeName(inside, `[Install software] ${title} (${what})`),
    query,
    description: `Installs ${title} on hosts that do not have it.`,
    platform,
    software_title_id: title_id,
  };
  await addPolicy(inside, team_id ?? 0, given);
}

export interface Patching {
  readonly patch?: boolean | undefined;
  readonly patch_when_closed?: boolean | undefined;
  readonly notify_before_patching?: boolean | undefined;
}

const patchFields = ["patch", "patch_when_closed", "notify_before_patching"] as const;
export const mentionsPatching = (given: Patching): boolean => patchFields.some((field) => given[field] !== undefined);

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
  const chosen = {
    ...(patch_when_closed === undefined ? {} : { patch_when_closed }),
    ...(notify_before_patching === undefined ? {} : { notify_before_patching }),
  };
  if (before) {
    await changePolicy(inside, before, { ...chosen, ...(patch ? { install_software: true } : {}) });
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
    ...chosen,
  });
}

/** Names of policies are unique in a team, and an earlier policy may have been kept. */
async function freeName({ store }: Context, wanted: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted} ${number}`;
    if ((await store.policies.count(eq("name", name))) === 0) return name;
  }
}
