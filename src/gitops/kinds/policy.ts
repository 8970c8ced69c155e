// Policies.

import { z } from "zod";
import { allPolicyFields, policyPlatforms } from "../../api/checks/policies.ts";
import { fallbacksOf, fieldNames, pick } from "../../api/plain-fields.ts";
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import type { Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import type { Current } from "../desired/current.ts";
import type { PlacedItem } from "../files/collect.ts";
import type { Problems } from "../files/problems.ts";
import { anyOf, coversPath, isOfTeam, namesItem } from "../plan/activities.ts";
import type { Owner, Thing } from "../plan/diff.ts";
import { flag, labelNames, name, plainFields, platforms, sql } from "../schema/fields.ts";
import type { Kind } from "./kind.ts";
import { linkedScript, linkedSoftware } from "./references/policy.ts";

const KIND = "policy";
const plainNames = fieldNames(allPolicyFields);

const named = (description: string) => z.string().min(1).max(1024).nullish().meta({ description });
const lists = ["labels_include_any", "labels_include_all", "labels_exclude_any"] as const;

const Software = z
  .strictObject({
    package_path: named("a file of the software of the same team: with one package, or a script"),
    package: named("instead of package_path: the url, the digest or the script of the package"),
    hash_sha256: named("instead of package_path: the digest of the package"),
    app_store_id: named("instead of package_path: a store app for Macs"),
    svc_maintained_app_slug: named("instead of package_path: a maintained app"),
  })
  .refine((software) => Object.values(software).filter(Boolean).length === 1, {
    error: "give exactly one of package_path, hash_sha256, app_store_id, svc_maintained_app_slug and package",
  });
export type NamedSoftware = z.output<typeof Software>;

export const PolicyFile = z
  .strictObject({
    name,
    query: sql(65_536)
      .nullish()
      .transform((query) => query ?? "")
      .meta({ description: "required, but not for the type patch" }),
    platform: platforms(policyPlatforms),
    ...plainFields(allPolicyFields),
    labels_include_any: labelNames(100),
    labels_include_all: labelNames(100),
    labels_exclude_any: labelNames(100),
    webhooks_and_tickets_enabled: flag.meta({
      description: "report failing hosts with the webhook, ticket or mail for failing policies",
    }),
    /** Left out is not false: `patch_when_closed` then turns it on. */
    continuous_automations_enabled: allPolicyFields.continuous_automations_enabled.schema
      .nullish()
      .meta({ description: allPolicyFields.continuous_automations_enabled.schema.description }),
    run_script: z
      .strictObject({
        path: z.string().min(1).nullish().meta({ description: "a file in the controls of the same team" }),
        name: name.nullish().meta({ description: "instead of path: the name of the script" }),
      })
      .refine(({ path, name }) => Boolean(path) !== Boolean(name), { error: "give either path or name" })
      .nullish()
      .transform((script) => script ?? null),
    install_software: z
      .union([Software, z.boolean()], { error: "expected an object, or true for the type patch" })
      .nullish()
      .transform((software) => software || null)
      .meta({ description: "true for the type patch: the app" }),
    resend_configuration_profile: name
      .nullish()
      .transform((profileName) => profileName ?? null)
      .meta({ description: "the name of a profile in the controls of the same team, which failing hosts get again" }),
    svc_maintained_app_slug: named("for the type patch: a maintained app of the software of the same team").transform(
      (slug) => slug ?? "",
    ),
  })
  .superRefine((policy, context) => {
    const wrong = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    const [list, other] = lists.filter((key) => policy[key].length > 0);
    if (list && other) wrong(other, `give either ${list} or ${other}, not both`);
    if (policy.type === "patch") checkPatch(policy, wrong);
    else checkDynamic(policy, wrong);
  })
  .meta({ anyOf: [{ required: ["query"] }, { required: ["svc_maintained_app_slug"] }] });
/** `installs` is the software that `install_software` means, and `runs` the name of the script of `run_script`. */
export type PolicyFile = z.output<typeof PolicyFile> & { readonly installs?: Json; readonly runs?: string | null };

type PolicyInput = Pick<
  z.output<typeof PolicyFile>,
  | "query"
  | "platform"
  | "install_software"
  | "svc_maintained_app_slug"
  | "patch_when_closed"
  | "notify_before_patching"
  | "continuous_automations_enabled"
>;
type Wrong = (path: string, message: string) => void;

function checkPatch(policy: PolicyInput, wrong: Wrong): void {
  const slug = policy.svc_maintained_app_slug;
  if (slug === "") wrong("svc_maintained_app_slug", "is required for the type patch");
  if (policy.query !== "") wrong("query", "cannot be given for the type patch: it follows from the app");
  if (policy.platform !== "" && policy.platform !== slug.split("/").at(-1))
    wrong("platform", "cannot be given for the type patch: it follows from the app");
  if (policy.install_software !== null && policy.install_software !== true)
    wrong("install_software", "must be true or false for the type patch, which installs its app");
  if (policy.patch_when_closed && policy.continuous_automations_enabled === false)
    wrong(
      "continuous_automations_enabled",
      "cannot be false with patch_when_closed, which tries again until the app is closed",
    );
}

function checkDynamic(policy: PolicyInput, wrong: Wrong): void {
  if (policy.query === "") wrong("query", "is required");
  if (policy.install_software === true)
    wrong("install_software", "can be true only for the type patch: name the software instead");
  for (const key of ["svc_maintained_app_slug", "patch_when_closed", "notify_before_patching"] as const)
    if (policy[key]) wrong(key, "is only for the type patch");
}

/** Whether the webhook covers a policy is stored in the settings of its team. */
const WEBHOOK_OF_POLICIES = "webhook_settings.failing_policies_webhook.policy_ids";

function desired(policies: readonly PlacedItem<PolicyFile>[], current: Current, problems: Problems): Thing[] {
  return policies.map(({ value, owner, place }) => {
    if (value.critical && !current.isPremium)
      problems.warn(place("critical"), "critical is ignored: it needs the premium tier");
    return {
      kind: KIND,
      owner,
      name: value.name,
      value: {
        query: value.query,
        ...pick(value, plainNames),
        platform: value.type === "patch" ? "" : value.platform,
        critical: value.critical && current.isPremium,
        labels_include_any: value.labels_include_any,
        labels_include_all: value.labels_include_all,
        labels_exclude_any: value.labels_exclude_any,
        svc_maintained_app_slug: value.svc_maintained_app_slug,
        continuous_automations_enabled: value.patch_when_closed || (value.continuous_automations_enabled ?? false),
        webhooks_and_tickets_enabled: value.webhooks_and_tickets_enabled,
        run_script: value.runs ?? null,
        resend_configuration_profile: value.resend_configuration_profile,
        install_software: installedBy(value.installs ?? null, owner, current),
      },
    };
  });
}

/** What the policy installs, by the name that the server has for it if no file lists it. */
function installedBy(installs: Json, owner: Owner, current: Current): Json {
  if (!isRecord(installs) || installs.isUnlisted !== true) return installs;
  const { isUnlisted: _, ...software } = installs;
  const name = typeof software.package === "string" ? current.packageCalled(owner, software.package) : undefined;
  return name === undefined ? software : { package: name };
}

export const policy: Kind<PolicyFile> = {
  noun: "policy",
  items: {
    list: "policies",
    schema: PolicyFile,
    sql: ({ query }) => ({ query }),
    labelFields: ["labels_include_any", "labels_include_all", "labels_exclude_any"],
    defaults: {
      ...fallbacksOf(allPolicyFields),
      platform: "",
      labels_include_any: [],
      labels_include_all: [],
      labels_exclude_any: [],
      svc_maintained_app_slug: "",
      webhooks_and_tickets_enabled: false,
      run_script: null,
      resend_configuration_profile: null,
      install_software: null,
    },
    inFile: ({ run_script, query, ...value }) => ({
      ...(value.type === "patch" ? {} : { query: query! }),
      ...value,
      ...(run_script ? { run_script: { name: run_script } } : {}),
    }),
    linked: (item, items, problems) => ({
      ...item.value,
      installs: linkedSoftware(item, items, KIND, problems),
      runs: linkedScript(item, items, problems),
    }),
    check({ value, owner, place }, problems) {
      if (owner === null && value.run_script !== null)
        problems.error(place("run_script"), "run_script: only policies of a team can run a script");
      if (owner === null && value.install_software !== null)
        problems.error(place("install_software"), "install_software: only policies of a team can install software");
      if (owner === null && value.resend_configuration_profile !== null)
        problems.error(
          place("resend_configuration_profile"),
          "resend_configuration_profile: only policies of a team can send a profile again",
        );
      if (owner === null && value.type === "patch")
        problems.error(place("type"), "type: only policies of a team can be of the type patch");
      if (owner === NO_TEAM_NAME && value.calendar_events_enabled)
        problems.error(
          place("calendar_events_enabled"),
          "calendar_events_enabled cannot be true for hosts without a team",
        );
    },
    desired,
  },
  renamed: {
    by: ({ query, platform, type }) => [query, platform, type],
    lost: "the results of its hosts are lost",
    command: "svc policies update",
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
