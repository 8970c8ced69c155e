// Policies.
import type { Current } from "../desired/current.ts";
import type { Placed } from "../files/collect.ts";
import type { Problems } from "../files/problems.ts";
import { anyOf, coversPath, isOfTeam, namesItem } from "../plan/activities.ts";
import type { Thing } from "../plan/diff.ts";
import { PolicyFile } from "../schema/items.ts";
import type { Items, Kind } from "./kind.ts";

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
      },
    };
  });
}

export const policy: Kind & { readonly items: Items<PolicyFile> } = {
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
