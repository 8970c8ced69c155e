// Shared by the commands for certificate authorities and templates: lookup by name, columns, and the flags for their
// fields.

import * as Flags from "@oclif/core/flags";
import { type CaItem, type CaType, caApi, caFields, caTypes, secretFields } from "../../api/certificates/ca.ts";
import { nearest } from "../../text/nearest.ts";
import type { ClientCommand } from "../client-command.ts";
import { notFound, usage } from "../errors.ts";
import { readSecret, secretFlags } from "../files/input.ts";
import type { View } from "../output/output.ts";

export const caView: Partial<View> = { columns: [{ key: "id" }, { key: "name" }, { key: "type" }] };

export const skipCheckFlag = {
  "skip-check": Flags.boolean({ summary: "Do not check the settings by connecting to the authority." }),
};

/** Fields of all types. The server validates which fields a type has. */
export const caFlags = {
  name: Flags.string({
    summary: "Name: letters, numbers and underscores. The names of profile variables end with it.",
  }),
  url: Flags.string({ summary: "URL of the service.", helpValue: "URL" }),
  "admin-url": Flags.string({ summary: "directory_scep_proxy: URL of the admin page.", helpValue: "URL" }),
  "challenge-url": Flags.string({ summary: "hosted_scep_ca: URL of the challenge webhook.", helpValue: "URL" }),
  username: Flags.string({ summary: "User name for the service." }),
  "client-id": Flags.string({ summary: "hosted_est_ca: client id." }),
  "profile-id": Flags.string({ summary: "hosted_ca_a: certificate profile." }),
  "certificate-common-name": Flags.string({ summary: "hosted_ca_a: common name; may contain $SVC_VAR_ variables." }),
  "certificate-user-principal-names": Flags.string({
    summary: "hosted_ca_a: user principal name; may contain $SVC_VAR_ variables.",
    multiple: true,
  }),
  "certificate-seat-id": Flags.string({ summary: "hosted_ca_a: seat; may contain $SVC_VAR_ variables." }),
  "allow-hostname": Flags.boolean({
    summary: "EST: hosts may request certificates for the hostname that they report.",
    allowNo: true,
  }),
  ...secretFlags("challenge", "the static challenge of a custom_scep_proxy"),
  ...secretFlags("password", "the password"),
  ...secretFlags("client-secret", "the client secret of a hosted_est_ca"),
  ...secretFlags("api-token", "the API token of a hosted_ca_a"),
};

const kebab = (field: string): string => field.replaceAll("_", "-");
const fieldsOf = (type: CaType): string[] => Object.keys(caFields[type]);
const allFields = [...new Set(caTypes.flatMap(fieldsOf))];
const secretNames: readonly string[] = Object.values(secretFields);

/** Finds an authority by id or name; an id takes precedence. */
export async function findAuthority(command: ClientCommand, text: string): Promise<CaItem> {
  const { certificate_authorities: authorities } = await command.call(caApi.list);
  const match = authorities.find(({ id }) => String(id) === text) ?? authorities.find(({ name }) => name === text);
  if (match) return match;
  const near = nearest(
    text,
    authorities.map(({ name }) => name),
  );
  throw notFound(
    `there is no certificate authority ${text}${near ? `; did you mean ${near}?` : ""}`,
    "`svc ca list` shows them.",
  );
}

/** The fields from the flags. A flag of another type is refused here, before a secret is sent to the server. */
export async function authorityFields(
  command: ClientCommand,
  type: CaType,
  flags: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const ownFields = fieldsOf(type);
  const body: Record<string, unknown> = {};
  for (const field of allFields) {
    const flag = kebab(field);
    const value = secretNames.includes(field) ? await readSecret(command.io, flags, flag) : flags[flag];
    if (value === undefined) continue;
    if (!ownFields.includes(field))
      throw usage(
        `${flag} does not apply to the type ${type}`,
        `This type has: ${ownFields.map((name) => `--${kebab(name)}`).join(", ")}`,
      );
    body[field] = value;
  }
  return body;
}

/** The object of the type in a file: either nested under the type as in the API, or its fields at the top level. */
export function authorityIn(type: CaType, body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const inner = body[type];
  return { ...((typeof inner === "object" && inner !== null ? inner : body) as Record<string, unknown>) };
}

/** The type of the authority that a file describes. */
export const typeIn = (body: Readonly<Record<string, unknown>>): CaType | undefined =>
  caTypes.find((type) => typeof body[type] === "object" && body[type] !== null);
