// What policies of teams name: software, scripts and profiles of the same team, which its files must contain.

import { basename, dirname, resolve } from "node:path";
import { NO_TEAM_NAME } from "../../../api/settings/no-team.ts";
import type { Json } from "../../../text/differences.ts";
import type { CollectedItems, PlacedItem } from "../../files/collect.ts";
import { listKey, type Problems } from "../../files/problems.ts";
import type { Package } from "../package.ts";
import type { NamedSoftware, PolicyFile } from "../policy.ts";
import type { StoreApp } from "../store-app.ts";

const SOFTWARE = ["package", "store_app"] as const;
const SCRIPTS = "script";
const PROFILES = "configuration_profile";

type Policy = PlacedItem<PolicyFile>;

/** Documents of the older format list no scripts, profiles and software. */
const isDocument = ({ file }: Policy): boolean => file === "";

/** The items of a kind that belong to the team of the policy. Controls of hosts without a team may be global. */
function placedOf<T>(items: CollectedItems, kind: string, owner: string | null): readonly PlacedItem<T>[] {
  const isControl = kind === SCRIPTS || kind === PROFILES;
  const owners = isControl && owner === NO_TEAM_NAME ? [owner, null] : [owner];
  return ((items.get(kind) ?? []) as readonly PlacedItem<T>[]).filter((item) => owners.includes(item.owner));
}
const ofOwner = <T>(items: CollectedItems, kind: string, owner: string | null): readonly T[] =>
  placedOf<T>(items, kind, owner).map((item) => item.value);

/**
 * What the policy installs: one of the packages and apps that the same file lists. Reports what is not there. `policyKind`:
 * the kind of the policy itself.
 */
export function linkedSoftware(policy: Policy, items: CollectedItems, policyKind: string, problems: Problems): Json {
  const { value, owner } = policy;
  if (owner === null) return null;
  checkNamed(policy, items, problems);
  if (value.type === "patch") {
    checkPatched(policy, items, policyKind, problems);
    return value.install_software === true || null;
  }
  const software = value.install_software;
  return software === null || software === true ? null : installs(policy, software, items, problems);
}

/** Reports what the policy names but its team does not have, unless the list could not be read whole. */
function reportMissing({ owner, place }: Policy, kind: string, key: string, message: string, problems: Problems): null {
  const isControl = kind === SCRIPTS || kind === PROFILES;
  const owners = isControl && owner === NO_TEAM_NAME ? [owner, null] : [owner];
  if (!owners.some((listOwner) => problems.isIncomplete(listKey(kind, listOwner))))
    problems.error(place(key), `${key}: ${message}`);
  return null;
}

/** What a file without software names of it: the server may have it, and keep it. */
function unlisted(
  policy: Policy,
  kind: string,
  called: string,
  key: string,
  message: string,
  { items, problems }: Lists,
) {
  const { owner, place } = policy;
  const isListed = SOFTWARE.some((listKind) => ofOwner(items, listKind, owner).length > 0);
  if (isListed || problems.isIncomplete(listKey(kind, owner)))
    return reportMissing(policy, kind, key, message, problems);
  problems.missing(place(key), `${key}: ${message}`, { kind, owner, called });
  return { [kind === "package" ? "package" : "app_store_id"]: called, isUnlisted: true };
}

interface Lists {
  readonly items: CollectedItems;
  readonly problems: Problems;
}

function installs(policy: Policy, software: NamedSoftware, items: CollectedItems, problems: Problems): Json {
  const { owner, file, place } = policy;
  const missing = (kind: string, called: string, message: string) =>
    unlisted(policy, kind, called, "install_software", message, { items, problems });
  if (software.app_store_id) {
    const app_store_id = software.app_store_id.trim();
    const names = new Set([app_store_id, `${app_store_id}/darwin`]);
    const isThere = ofOwner<StoreApp>(items, "store_app", owner).some((app) => names.has(app.name));
    return isThere || isDocument(policy)
      ? { app_store_id }
      : missing("store_app", app_store_id, `the software of the team has no app ${app_store_id} for Macs`);
  }
  const path = software.package_path && resolve(dirname(file), software.package_path);
  const packages = ofOwner<Package>(items, "package", owner).filter((candidate) =>
    path
      ? candidate.from === path
      : software.hash_sha256
        ? candidate.sha256 === software.hash_sha256
        : candidate.name === (software.svc_maintained_app_slug ?? software.package),
  );
  if (packages.length > 1) {
    problems.error(
      place("install_software"),
      "install_software: the file has several packages: name one of them by its hash_sha256",
    );
    return null;
  }
  if (packages.length === 1) return { package: packages[0]!.name };
  const name = software.package_path ?? software.hash_sha256 ?? software.svc_maintained_app_slug ?? software.package!;
  const message = `the software of the team has no package ${name}`;
  if (isDocument(policy) && !path) return { package: name };
  // What is in a file of the repository is not known by that name on the server.
  return path
    ? reportMissing(policy, "package", "install_software", message, problems)
    : missing("package", name, message);
}

function checkNamed(policy: Policy, items: CollectedItems, problems: Problems): void {
  const { value, owner, file } = policy;
  const key = "resend_configuration_profile";
  const profileName = value[key];
  if (file === "" || profileName === null) return;
  if (!ofOwner<{ name: string }>(items, PROFILES, owner).some(({ name }) => name === profileName))
    reportMissing(
      policy,
      PROFILES,
      key,
      `the controls of the team have no configuration profile ${JSON.stringify(profileName)}`,
      problems,
    );
}

/**
 * The name of the script that the policy runs: one of the controls of the same team. A path means the script of that
 * file, however the controls call it. Reports what is not there.
 */
export function linkedScript(policy: Policy, items: CollectedItems, problems: Problems): string | null {
  const { value, owner, file, place } = policy;
  const script = value.run_script;
  if (owner === null || script === null) return null;
  if (isDocument(policy)) return script.name ?? basename(script.path!);
  const path = script.name ? null : resolve(dirname(file), script.path!);
  const scripts = placedOf<{ name: string }>(items, SCRIPTS, owner).filter((candidate) =>
    path === null ? candidate.value.name === script.name : candidate.file === path,
  );
  if (scripts.length === 1) return scripts[0]!.value.name;
  const named = JSON.stringify(script.name ?? script.path);
  if (scripts.length === 0)
    return reportMissing(policy, SCRIPTS, "run_script", `the controls of the team have no script ${named}`, problems);
  problems.error(
    place("run_script"),
    "run_script: the controls of the team have this file under several names: give one of them as name",
  );
  return null;
}

/** The app of a patch policy is in the software of the team, and no other policy of the team patches it. */
function checkPatched(policy: Policy, items: CollectedItems, policyKind: string, problems: Problems): void {
  const { value, owner, place } = policy;
  const slug = value.svc_maintained_app_slug;
  const others = ofOwner<PolicyFile>(items, policyKind, owner).filter(
    (other) => other.type === "patch" && other.svc_maintained_app_slug === slug,
  );
  if (others.length > 1 && others[0]!.name !== value.name)
    problems.error(
      place("svc_maintained_app_slug"),
      `svc_maintained_app_slug: the policy ${JSON.stringify(others[0]!.name)} patches ${slug} already`,
    );
  if (isDocument(policy)) return;
  const app = ofOwner<Package>(items, "package", owner).find((candidate) => candidate.slug === slug);
  const message = `the software of the team has no maintained app ${slug}`;
  if (!app) unlisted(policy, "package", slug, "svc_maintained_app_slug", message, { items, problems });
  else if (value.patch_when_closed && app.pre_install_query)
    problems.error(
      place("patch_when_closed"),
      `patch_when_closed cannot be used while the app ${slug} has a pre_install_query`,
    );
}
