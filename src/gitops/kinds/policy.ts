// Policies.
import { basename, dirname, resolve } from "node:path";
import { z } from "zod";
import { NO_TEAM_NAME } from "../../api/configuration.ts";
import { policyPlatforms } from "../../api/policies.ts";
import type { Current } from "../desired/current.ts";
import type { Collected, Placed } from "../files/collect.ts";
import type { Problems } from "../files/problems.ts";
import { anyOf, coversPath, isOfTeam, namesItem } from "../plan/activities.ts";
import type { Json, Thing } from "../plan/diff.ts";
import { choice, flag, labelNames, name, platforms, sql, text } from "../schema/fields.ts";
import { notBuilt } from "../schema/not-built.ts";
import type { Kind } from "./kind.ts";
import type { Package } from "./package.ts";
import type { StoreApp } from "./store-app.ts";

const named = (description: string) => z.string().min(1).max(1024).nullish().meta({ description });

export const PolicyFile = z
  .strictObject({
    name,
    query: sql(65_536),
    description: text(65_536),
    resolution: text(65_536),
    platform: platforms(policyPlatforms),
    critical: flag,
    type: choice(["dynamic", "patch"], "dynamic").refine((type) => type === "dynamic", {
      error: "this server does not support patch policies yet",
    }),
    labels_include_any: labelNames(100),
    labels_exclude_any: labelNames(100),
    labels_include_all: notBuilt("policies by all of several labels"),
    calendar_events_enabled: flag,
    conditional_access_enabled: flag,
    webhooks_and_tickets_enabled: flag.meta({
      description: "report failing hosts with the webhook or ticket for failing policies",
    }),
    continuous_automations_enabled: notBuilt("continuous automations"),
    run_script: z
      .strictObject({
        path: z.string().min(1).nullish().meta({ description: "a file in the controls of the same team" }),
        name: name.nullish().meta({ description: "instead of path: the name of the script" }),
      })
      .refine(({ path, name }) => Boolean(path) !== Boolean(name), { error: "give either path or name" })
      .nullish()
      .transform((given) => (given ? (given.name ?? basename(given.path!)) : null)),
    install_software: z
      .strictObject({
        package_path: named("a file of the software of the same team: with one package, or a script"),
        package: named("instead of package_path: the url, the digest or the script of the package"),
        hash_sha256: named("instead of package_path: the digest of the package"),
        app_store_id: named("instead of package_path: a store app for Macs"),
        svc_maintained_app_slug: named("instead of package_path: a maintained app"),
      })
      .refine((given) => Object.values(given).filter(Boolean).length === 1, {
        error: "give exactly one of package_path, hash_sha256, app_store_id, svc_maintained_app_slug and package",
      })
      .nullish()
      .transform((given) => given ?? null),
    resend_configuration_profile: notBuilt("policies that send profiles again"),
    svc_maintained_app_slug: notBuilt("patch policies"),
    patch_when_closed: notBuilt("patch policies"),
    notify_before_patching: notBuilt("patch policies"),
  })
  .superRefine((policy, context) => {
    if (policy.labels_include_any.length > 0 && policy.labels_exclude_any.length > 0)
      context.addIssue({
        code: "custom",
        path: ["labels_exclude_any"],
        message: "give either labels_include_any or labels_exclude_any, not both",
      });
  });
/** `installs` is the software that `install_software` means. */
export type PolicyFile = z.output<typeof PolicyFile> & { readonly installs?: Json };

/** Whether the webhook covers a policy is stored in the settings of its team. */
const WEBHOOK_OF_POLICIES = "webhook_settings.failing_policies_webhook.policy_ids";

function desired(policies: readonly Placed<PolicyFile>[], current: Current, problems: Problems): Thing[] {
  return policies.map(({ value, owner, place }) => {
    if (value.critical && !current.isPremium)
      problems.warn(place("critical"), "critical is ignored: it needs the premium tier");
    return {
      kind: "policy",
      owner,
      name: value.name,
      value: {
        query: value.query,
        description: value.description,
        resolution: value.resolution,
        platform: value.platform,
        critical: value.critical && current.isPremium,
        labels_include_any: value.labels_include_any,
        labels_exclude_any: value.labels_exclude_any,
        calendar_events_enabled: value.calendar_events_enabled,
        conditional_access_enabled: value.conditional_access_enabled,
        webhooks_and_tickets_enabled: value.webhooks_and_tickets_enabled,
        run_script: value.run_script,
        install_software: value.installs ?? null,
      },
    };
  });
}

/** What the policy installs: one of the packages and apps that the same file lists. */
function installs({ value, owner, file, place }: Placed<PolicyFile>, items: Collected, problems: Problems): Json {
  const wanted = value.install_software;
  if (!wanted || owner === null) return null;
  const wrong = (message: string): null => {
    problems.error(place("install_software"), `install_software: ${message}`);
    return null;
  };
  const ofOwner = <T>(kind: string) =>
    ((items.get(kind) ?? []) as readonly Placed<T>[]).filter((one) => one.owner === owner);
  if (wanted.app_store_id) {
    const app_store_id = wanted.app_store_id.trim();
    const names = new Set([app_store_id, `${app_store_id}/darwin`]);
    const isThere = ofOwner<StoreApp>("store_app").some((one) => names.has(one.value.name));
    return isThere || file === ""
      ? { app_store_id }
      : wrong(`the software of the team has no app ${app_store_id} for Macs`);
  }
  const packages = ofOwner<Package>("package").map((one) => one.value);
  const path = wanted.package_path && resolve(dirname(file), wanted.package_path);
  const found = packages.filter((one) =>
    path
      ? one.from === path
      : wanted.hash_sha256
        ? one.sha256 === wanted.hash_sha256
        : one.name === (wanted.svc_maintained_app_slug ?? wanted.package),
  );
  if (found.length > 1) return wrong("the file has several packages: name one of them by its hash_sha256");
  if (found.length === 1) return { package: found[0]!.name };
  const name = wanted.package_path ?? wanted.hash_sha256 ?? wanted.svc_maintained_app_slug ?? wanted.package!;
  // Documents of the older format list no software.
  return file === "" && !path ? { package: name } : wrong(`the software of the team has no package ${name}`);
}

export const policy: Kind<PolicyFile> = {
  noun: "policy",
  items: {
    list: "policies",
    schema: PolicyFile,
    labelFields: ["labels_include_any", "labels_exclude_any"],
    defaults: {
      description: "",
      resolution: "",
      platform: "",
      critical: false,
      labels_include_any: [],
      labels_exclude_any: [],
      calendar_events_enabled: false,
      conditional_access_enabled: false,
      webhooks_and_tickets_enabled: false,
      run_script: null,
      install_software: null,
    },
    inFile: ({ run_script, ...value }) => (run_script ? { ...value, run_script: { name: run_script } } : value),
    linked: (item, items, problems) => ({ ...item.value, installs: installs(item, items, problems) }),
    check({ value, owner, place }, problems) {
      if (owner === null && value.run_script !== null)
        problems.error(place("run_script"), "run_script: only policies of a team can run a script");
      if (owner === null && value.install_software !== null)
        problems.error(place("install_software"), "install_software: only policies of a team can install software");
      if (owner === NO_TEAM_NAME && value.calendar_events_enabled)
        problems.error(
          place("calendar_events_enabled"),
          "calendar_events_enabled cannot be true for hosts without a team",
        );
    },
    desired,
  },
  typesOf: () => [...anyOf("policy"), "applied_spec_policy", "edited_config", "edited_team"],
  isAbout: (details, type, { name, owner, fields }) => {
    if (type === "edited_config" || type === "edited_team")
      return (
        (type === "edited_team" ? details.team_name === owner : owner === null) &&
        fields.some(({ path }) => path === "webhooks_and_tickets_enabled") &&
        coversPath(details, type, [WEBHOOK_OF_POLICIES])
      );
    if (type === "applied_spec_policy") return namesItem(details.policies, name, owner);
    return details.policy_name === name && isOfTeam(details, owner);
  },
};
