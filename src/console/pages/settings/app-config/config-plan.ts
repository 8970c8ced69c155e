// The changes of a form with settings of the organization, as a plan has them.
import type { PlanChange } from "../../../../api/edge/plans.ts";
import { configSecrets, type SecretFields, secretPaths } from "../../../../api/secret-fields.ts";
import { isRecord } from "../../../../text/record.ts";
import type { PlanRequest } from "../../../parts/plans/plan-button.tsx";
import { bodyOf } from "./fields.ts";
import type { SettingChange } from "./setting-types.ts";

const NOTHING = "There are no changes to plan.";
const EXCEPTIONS = "Plans do not contain what people may change by hand. Save it without a plan.";
const REMOVED_KEYS = "A plan cannot remove keys. Save this change without a plan.";

/** Why the changes cannot be planned, or each section that they change. */
export function planOfConfig(changes: readonly SettingChange[]): PlanRequest | string {
  if (changes.length === 0) return NOTHING;
  if (changes.some(({ path }) => path.startsWith("gitops.exceptions."))) return EXCEPTIONS;
  if (changes.some(({ before, after }) => lacksKeys(before, after))) return REMOVED_KEYS;
  const secrets: Record<string, string> = {};
  const sections = Object.entries(bodyOf(changes)).map(([name, value]): PlanChange => {
    for (const path of secretPaths(secretFieldsOf(name), value)) replaceSecret(value, path, secrets);
    const kind = name === "agent_options" ? "agent_options" : "config";
    return { kind, owner: null, name, action: "set", value: value as NonNullable<PlanChange["value"]> };
  });
  return { changes: sections, secrets };
}

const secretFieldsOf = (section: string): SecretFields =>
  (configSecrets as Readonly<Record<string, SecretFields>>)[section] ?? { secrets: [], shown: [] };

/** Plans refer to secrets, whose texts are beside the changes. An empty text is no secret. */
function replaceSecret(section: unknown, path: readonly string[], secrets: Record<string, string>): void {
  const parents = path.slice(0, -1);
  const last = path.at(-1)!;
  const parent = parents.reduce((value, key) => (value as Record<string, unknown>)[key], section);
  const fields = parent as Record<string, unknown>;
  const text = fields[last];
  if (typeof text !== "string" || text === "") return;
  const ref = path.join(".");
  secrets[ref] = text;
  fields[last] = { $secret: ref };
}

/** Whether an object has lost keys: plans leave those that they do not name as they are. */
const lacksKeys = (before: unknown, after: unknown): boolean =>
  isRecord(before) &&
  isRecord(after) &&
  Object.entries(before).some(([key, value]) => !Object.hasOwn(after, key) || lacksKeys(value, after[key]));
