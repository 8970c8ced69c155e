import type { Policy } from "../../../../api/checks/policies.ts";
import type { PlanChange } from "../../../../api/edge/plans.ts";
import { CANNOT_RENAME, changedFields, ownerOf } from "../../../parts/plans/plan-button.tsx";

/** Fields that plans have in another form: by name instead of by id. */
const otherForms = ["script_id", "software_title_id", "resend_profile_uuid", "svc_maintained_app_slug", "type"];

type Values = Readonly<Record<string, unknown>> & { readonly name: string };

/** What the form of a policy changes, as a plan has it; or why a plan cannot have it. */
export function planOfPolicy(
  policy: Policy | null,
  teamId: number | null,
  values: Values,
  initial: Values,
): PlanChange | string {
  if (policy !== null && values.name !== policy.name) return CANNOT_RENAME;
  const { name: _, ...fields } = changedFields(values, policy && initial);
  if (otherForms.some((field) => (policy === null ? Boolean(values[field]) : field in fields)))
    return "A plan names scripts, software and profiles as configuration files do. Save them here without a plan.";
  const value = Object.fromEntries(Object.entries(fields).filter(([field]) => !otherForms.includes(field)));
  const owner = ownerOf(policy === null ? teamId : policy.team_id);
  return { kind: "policy", owner, name: values.name, action: "set", value: value as PlanChange["value"] };
}
