import { z } from "zod";
import { type CaType, caFields, caTypes, isSingle, secretFields } from "../../../../../api/certificates/ca.ts";
import { MASK } from "../../../../../api/fields.ts";
import { isRecord } from "../../../../../text/record.ts";
import { authorityFrom, type CaRow, changed, type Settings } from "../../../../certificates/ca/rules.ts";
import type { Step as CaStep } from "../../../../certificates/ca/specs.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import type { RequestedChange } from "../../changes.ts";
import { parsed } from "../../parse.ts";
import { KEPT, Secret, secretFrom, type Texts, type Thing } from "../../values.ts";

const values = new Map<CaType, z.ZodType>(caTypes.map((type) => [type, z.strictObject(caFields[type])]));

/** The value with every field, in any order. An optional field that is not set has its default. */
function authorityValue({ type, name, settings, secret }: Pick<CaRow, "type" | "name" | "settings" | "secret">) {
  return {
    ...(isSingle(type) ? {} : { name }),
    ...(type === "hosted_ca_a" ? { certificate_user_principal_names: [] } : {}),
    ...("allow_hostname" in caFields[type] ? { allow_hostname: false } : {}),
    ...settings,
    [secretFields[type]]: new Secret(secret),
  };
}

export const authorityThings = (rows: readonly CaRow[]): Thing[] =>
  rows.map((row) => ({
    kind: "certificate_authority",
    owner: null,
    name: `${row.type}/${row.name}`,
    value: authorityValue(row),
  }));

export interface DesiredAuthorityValue {
  readonly type: CaType;
  readonly name: string;
  readonly fields: Settings;
}

export function typeAndName(key: string): { type: CaType; name: string } {
  const slash = key.indexOf("/");
  const type = caTypes.find((candidate) => candidate === key.slice(0, slash));
  const name = key.slice(slash + 1);
  if (!type || (isSingle(type) && name !== type))
    throw invalid(
      "change.name",
      `must be TYPE/NAME, or TYPE/TYPE for types with a single authority; types are ${caTypes.join(", ")}`,
    );
  return { type, name };
}

export function readAuthority(change: RequestedChange, texts: Texts): DesiredAuthorityValue {
  const { type, name } = typeAndName(change.name);
  const { value } = change;
  if (!isRecord(value)) throw invalid("value", "must be an object");
  const field = secretFields[type];
  const secret = secretFrom(value[field] ?? "", texts, field);
  if (secret === "") throw invalid(field, `${field} is required`);
  const named = isSingle(type) ? {} : { name: value.name ?? name };
  const fields = parsed(values.get(type)!, {
    ...value,
    ...named,
    [field]: secret === KEPT ? MASK : secret,
  }) as Settings;
  if (!isSingle(type) && fields.name !== name) throw invalid("change.name", "must be the name of the change");
  return { type, name, fields };
}

/** The step that creates or changes the authority as wanted. 422 for a violated rule. */
export const authorityStep = (before: CaRow | undefined, { type, fields }: DesiredAuthorityValue): CaStep => ({
  before,
  desired: before ? changed(before, fields, "value") : authorityFrom(type, fields, "value"),
  at: "value",
});
