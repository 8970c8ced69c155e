// A plan as configuration files, for `svc apply -f`; or as the body of POST /plans, where files of this form cannot say it.
import type { PlannedChange } from "../../../api/edge/plans.ts";
import { isRecord } from "../../../text/record.ts";
import { isEmpty } from "./plan-texts.ts";

interface PlanFile {
  readonly name: string;
  readonly text: string;
  readonly command: string;
}

const documentKinds: readonly string[] = ["label", "policy", "query"];
/** Fields that files give in another form than the API. */
const otherForms = ["run_script", "install_software", "resend_configuration_profile"];

export function fileOf(changes: readonly PlannedChange[]): PlanFile {
  const isWritable = changes.every(
    ({ kind, action, value }) => action !== "delete" && documentKinds.includes(kind) && hasSameForm(value),
  );
  if (!isWritable)
    return {
      name: "changes.json",
      text: JSON.stringify({ changes: changes.map(inRequest) }, null, 2),
      command: "svc plans create --input changes.json",
    };
  return { name: "changes.yml", text: changes.map(documentOf).join("---\n"), command: "svc apply -f changes.yml" };
}

const hasSameForm = (value: unknown): boolean =>
  isRecord(value) && otherForms.every((field) => isEmpty(value[field] ?? null));

const inRequest = ({ kind, owner, name, action, value }: PlannedChange) =>
  action === "delete" ? { kind, owner, name, action } : { kind, owner, name, action: "set", value };

function documentOf({ kind, owner, name, value }: PlannedChange): string {
  const fields = Object.entries(isRecord(value) ? value : {}).filter(
    ([key, field]) => !isEmpty(field) && !(key === "type" && field === "dynamic"),
  );
  const spec: Record<string, unknown> = {
    name,
    ...(owner === null ? {} : { team: owner }),
    ...Object.fromEntries(fields),
  };
  const lines = Object.entries(spec).map(([key, field]) => `  ${key}: ${inYaml(field)}`);
  return withoutVariables(`apiVersion: v1\nkind: ${kind}\nspec:\n${lines.join("\n")}\n`);
}

/** JSON is YAML. Texts of several lines are blocks, which are easier to read and to compare. */
function inYaml(value: unknown): string {
  const isBlock =
    typeof value === "string" && value.includes("\n") && /^\S.*\S\n?$/s.test(value) && !/[^\P{C}\n\t]/u.test(value);
  if (!isBlock) return JSON.stringify(value);
  return `${value.endsWith("\n") ? "|" : "|-"}\n${value.replace(/\n$/, "").replace(/^(?=.)/gm, "    ")}`;
}

/** What looks like a variable of the environment stays as it is. */
const withoutVariables = (text: string): string =>
  text.replace(/(\\*)\$(?=[A-Za-z_]|\{[A-Za-z_])/g, (_, slashes: string) => `${"\\".repeat(2 * slashes.length + 1)}$`);
