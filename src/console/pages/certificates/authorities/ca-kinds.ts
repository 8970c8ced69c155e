// The kinds of certificate authorities, and the fields of each.
import type { CaType } from "../../../../api/certificates/ca.ts";

export interface CaField {
  /** The name of the field in the API. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly kind: "text" | "url" | "secret" | "check" | "lines";
}

export interface CaKind {
  readonly label: string;
  readonly purpose: string;
  readonly fields: readonly CaField[];
}

const name: CaField = {
  name: "name",
  label: "Name",
  kind: "text",
  hint: "letters, digits and underscores: profiles refer to it by this name",
};
const url: CaField = { name: "url", label: "URL", kind: "url" };
const userName: CaField = { name: "username", label: "User name", kind: "text" };
const password: CaField = { name: "password", label: "Password", kind: "secret" };
const hostnames: CaField = {
  name: "allow_hostname",
  label: "Hosts may request certificates for their hostname",
  kind: "check",
  hint: "hosts report this name themselves",
};
const WITH_VARIABLES = "may contain variables such as $SVC_VAR_HOST_END_USER_EMAIL_IDP";

export const caKinds: Readonly<Record<CaType, CaKind>> = {
  custom_scep_proxy: {
    label: "SCEP server",
    purpose: "a server with a fixed challenge; devices reach it through this server",
    fields: [name, url, { name: "challenge", label: "Challenge", kind: "secret" }],
  },
  custom_est_proxy: {
    label: "EST server",
    purpose: "a server with a user name and a password",
    fields: [name, url, userName, password, hostnames],
  },
  hosted_ca_a: {
    label: "Hosted service with an API of its own",
    purpose: "the service makes key and certificate (DigiCert)",
    fields: [
      name,
      url,
      { name: "api_token", label: "API token", kind: "secret" },
      { name: "profile_id", label: "ID of the profile", kind: "text" },
      { name: "certificate_common_name", label: "Common name", kind: "text", hint: WITH_VARIABLES },
      {
        name: "certificate_user_principal_names",
        label: "User principal name",
        kind: "lines",
        hint: `at most one; ${WITH_VARIABLES}`,
      },
      { name: "certificate_seat_id", label: "Seat ID", kind: "text", hint: WITH_VARIABLES },
    ],
  },
  hosted_est_ca: {
    label: "Hosted EST service",
    purpose: "a service with a client ID and its secret (Hydrant)",
    fields: [
      name,
      url,
      { name: "client_id", label: "Client ID", kind: "text" },
      { name: "client_secret", label: "Client secret", kind: "secret" },
      hostnames,
    ],
  },
  directory_scep_proxy: {
    label: "SCEP of the enterprise directory (NDES)",
    purpose: "its admin page shows a challenge for each certificate; there is at most one",
    fields: [
      { ...url, label: "SCEP URL" },
      { name: "admin_url", label: "URL of the admin page", kind: "url" },
      userName,
      password,
    ],
  },
  hosted_scep_ca: {
    label: "Hosted SCEP service",
    purpose: "a webhook returns a challenge for each certificate (Smallstep); there is at most one",
    fields: [
      { ...url, label: "SCEP URL" },
      { name: "challenge_url", label: "URL of the challenge", kind: "url" },
      userName,
      password,
    ],
  },
};

export const caTypes = Object.keys(caKinds) as readonly CaType[];

/** The name of a field in a form: as the server names it in errors. */
export const fieldNameOf = (type: CaType, { name: field }: CaField): string => `${type}.${field}`;

/** The first values of a form for the kind, or those of an authority. */
export const caValues = (type: CaType, ca: Readonly<Record<string, unknown>> = {}): Record<string, unknown> =>
  Object.fromEntries(
    caKinds[type].fields.map((field) => [fieldNameOf(type, field), controlValue(field, ca[field.name])]),
  );

function controlValue({ kind }: CaField, value: unknown): unknown {
  if (kind === "check") return value === true;
  if (kind === "lines") return Array.isArray(value) ? value.join("\n") : "";
  return typeof value === "string" ? value : "";
}

/** The fields of a body from the values of a form. */
export const caBody = (type: CaType, values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    caKinds[type].fields.map((field) => {
      const value = values[fieldNameOf(type, field)];
      return [field.name, field.kind === "lines" ? linesOf(String(value)) : value];
    }),
  );

const linesOf = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
