// Policies.
import { basename } from "node:path";
import { z } from "zod";
import { NO_TEAM_NAME } from "../../api/configuration.ts";
import { policyPlatforms } from "../../api/policies.ts";
import type { Current } from "../desired/current.ts";
import type { Placed } from "../files/collect.ts";
import type { Problems } from "../files/problems.ts";
import { anyOf, coversPath, isOfTeam, namesItem } from "../plan/activities.ts";
import type { Thing } from "../plan/diff.ts";
import { choice, flag, labelNames, name, platforms, sql, text } from "../schema/fields.ts";
import { notBuilt } from "../schema/not-built.ts";
import type { Kind } from "./kind.ts";

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
    install_software: notBuilt("software to install"),
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
export type PolicyFile = z.output<typeof PolicyFile>;

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
      },
    };
  });
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
    },
    inFile: ({ run_script, ...value }) => (run_script ? { ...value, run_script: { name: run_script } } : value),
    check({ value, owner, place }, problems) {
      if (owner === null && value.run_script !== null)
        problems.error(place("run_script"), "run_script: only policies of a team can run a script");
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
