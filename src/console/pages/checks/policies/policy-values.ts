// The values of the form of a policy, and the body of its request.
import type { Policy } from "../../../../api/checks/policies.ts";
import { labelScopeBody, labelScopeOf } from "../../../parts/label-scope/scope.ts";
import { isPremium } from "../../../session.ts";

/** Values of lists are texts, of which an empty one stands for nothing. */
export const valuesOf = (policy: Policy | null, isReported: boolean) => ({
  name: policy?.name ?? "",
  description: policy?.description ?? "",
  query: policy?.query ?? "",
  resolution: policy?.resolution ?? "",
  platform: policy?.platform ?? "",
  critical: policy?.critical ?? false,
  script_id: idText(policy?.run_script?.id),
  software_title_id: idText(policy?.install_software?.software_title_id),
  resend_profile_uuid: policy?.resend_configuration_profile?.profile_uuid ?? "",
  calendar_events_enabled: policy?.calendar_events_enabled ?? false,
  conditional_access_enabled: policy?.conditional_access_enabled ?? false,
  continuous_automations_enabled: policy?.continuous_automations_enabled ?? false,
  is_reported: isReported,
  patch_when_closed: policy?.patch_when_closed ?? false,
  notify_before_patching: policy?.notify_before_patching ?? false,
  ...labelScopeOf(policy ?? {}),
});

const idText = (id: number | undefined): string => (id === undefined ? "" : String(id));

export type PolicyValues = ReturnType<typeof valuesOf>;

/** Whether the query follows from an app, which the server keeps up to date. */
export const isPatch = (policy: Policy | null): boolean => policy?.type === "patch";

/** What a policy does with hosts that fail, of which only policies of a team have these. */
const ofTeams = ({ script_id, software_title_id, resend_profile_uuid }: PolicyValues, policy: Policy | null) => ({
  script_id: Number(script_id),
  resend_profile_uuid,
  // What a patch policy installs follows from its app.
  ...(isPatch(policy) ? {} : { software_title_id: Number(software_title_id) }),
});

export function bodyOf(values: PolicyValues, policy: Policy | null, teamId: number | null) {
  const { name, description, resolution, query, platform, critical } = values;
  const { calendar_events_enabled, conditional_access_enabled, continuous_automations_enabled } = values;
  const { patch_when_closed, notify_before_patching } = values;
  return {
    name,
    description,
    resolution,
    ...(isPatch(policy) ? { patch_when_closed, notify_before_patching } : { query, platform }),
    calendar_events_enabled,
    conditional_access_enabled,
    continuous_automations_enabled,
    ...(teamId === null ? {} : ofTeams(values, policy)),
    ...(isPremium() ? { critical, ...labelScopeBody(values) } : {}),
  };
}

/** Whether a host that fails already gets something that it would not get now: then all results begin anew. */
export const hasNewAutomation = (values: PolicyValues, before: PolicyValues): boolean =>
  (["script_id", "software_title_id", "resend_profile_uuid"] as const).some(
    (name) => values[name] !== "" && values[name] !== before[name],
  );
