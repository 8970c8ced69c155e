// Certificate authorities.
import { type CaType, caFields, caTypes, isSingle } from "../../api/certificates/ca.ts";
import type { StateThing } from "../../api/edge/configuration.ts";
import type { Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import { thing } from "../desired/values.ts";
import { type Fields, fieldsOf, pick } from "../export/fields.ts";
import type { Value } from "../files/overlay.ts";
import { placeOf } from "../files/tree.ts";
import { anyOf } from "../plan/activities.ts";
import type { Kind } from "./kind.ts";

interface AuthorityInput {
  readonly type: CaType;
  readonly name: string;
  readonly fields: Value;
  readonly path: readonly string[];
}

/** Authorities in `certificate_authorities`: lists, or one object where only one may exist. */
function authoritiesIn(settings: Value | null | undefined): AuthorityInput[] {
  const groups = settings?.certificate_authorities;
  if (!isRecord(groups)) return [];
  return caTypes.flatMap((type) => {
    const group = groups[type];
    return [group ?? []].flat().map((authority, i): AuthorityInput => {
      const fields = authority as Value;
      const path = ["certificate_authorities", type, ...(Array.isArray(group) ? [String(i)] : [])];
      return { type, name: isSingle(type) ? type : String(fields.name), fields, path };
    });
  });
}

function wholeValue({ type, fields: { name, ...fields } }: AuthorityInput): Value {
  const names = fields.certificate_user_principal_names ?? [];
  return {
    ...(isSingle(type) ? {} : { name }),
    ...("allow_hostname" in caFields[type] ? { allow_hostname: false } : {}),
    ...fields,
    ...(type === "hosted_ca_a" ? { certificate_user_principal_names: names } : {}),
  };
}

function inGroups(things: readonly StateThing[]): Fields {
  const groups = caTypes.map((type): [string, Json[]] => [
    type,
    things.filter(({ name }) => name.startsWith(`${type}/`)).map(({ value }) => withoutName(type, value)),
  ]);
  return Object.fromEntries(
    groups
      .filter(([, all]) => all.length > 0)
      .map(([type, all]) => [type, type === "directory_scep_proxy" ? all[0]! : all]),
  );
}

const withoutName = (type: CaType, value: Json): Json =>
  pick(fieldsOf(value), (key) => key !== "type" && !(isSingle(type) && key === "name"));

export const certificateAuthority: Kind = {
  noun: "certificate authority",
  check({ sections, values: { settings } }, problems) {
    const tree = sections.org_settings?.tree;
    const seen = new Set<string>();
    for (const { name, path } of authoritiesIn(settings)) {
      if (seen.has(name) && tree)
        problems.error(placeOf(tree, [...path, "name"]), `the certificate authority ${name} is given twice`);
      seen.add(name);
    }
  },
  desired: ({ global }) =>
    authoritiesIn(global?.values.settings).map((authority) =>
      thing("certificate_authority", null, wholeValue(authority), `${authority.type}/${authority.name}`),
    ),
  isComplete: (_, { global }) => global !== undefined,
  exported: ({ file, objects }) =>
    file === "global"
      ? { settings: { certificate_authorities: inGroups(objects.all(null, "certificate_authority")) } }
      : {},
  typesOf: ({ name }) => anyOf(name.split("/")[0]!).map((type) => type.replace("created_", "added_")),
  isAbout: (details, _, { name }) => {
    const [type, authorityName] = name.split("/") as [CaType, string];
    return isSingle(type) || details.name === authorityName;
  },
};
