import { isEmail } from "../../../../api/fields.ts";
import { configSecrets } from "../../../../api/secret-fields.ts";
import { SmtpSettings } from "../../../../api/settings/app-config.ts";
import type { FieldError } from "../../../platform/core/errors.ts";
import { may } from "../../../platform/core/security/access.ts";
import { section } from "../section.ts";
import { missing } from "./rules.ts";

/** Accepted spellings and their stored form. */
const authenticationTypes: Readonly<Record<string, string>> = {
  authtype_username_and_password: "authtype_username_and_password",
  authtype_username_password: "authtype_username_and_password",
  none: "none",
  authtype_none: "none",
};
const methods = ["authmethod_plain", "authmethod_cram_md5", "authmethod_login"];

export const smtpSettings = section({
  name: "smtp_settings",
  schema: SmtpSettings,
  defaults: {
    enable_smtp: false,
    configured: false,
    sender_address: "",
    server: "",
    port: 587,
    authentication_type: "authtype_username_and_password",
    user_name: "",
    password: "",
    enable_ssl_tls: true,
    authentication_method: "authmethod_plain",
    domain: "",
    verify_ssl_certs: true,
    enable_start_tls: true,
  },
  ...configSecrets.smtp_settings,
  boundTo: { password: ["server", "port"] },
  returned: { configured: "it follows from the other settings of mail" },
  respell(change) {
    const { authentication_type: type } = change;
    if (typeof type !== "string" || !Object.hasOwn(authenticationTypes, type)) return change;
    return { ...change, authentication_type: authenticationTypes[type] };
  },
  complete: (value) => ({ ...value, configured: isConfigured(value) }),
  check: (value) => [...(value.enable_smtp ? enabledProblems(value) : []), ...problems(value)],
  visibleTo: (user) => may(user, "config:read_secrets", null),
});

const isConfigured = (value: SmtpSettings): boolean =>
  value.enable_smtp && value.server !== "" && value.sender_address !== "";

function enabledProblems(value: SmtpSettings): FieldError[] {
  const errors = missing(value, ["server", "sender_address"], "enable SMTP");
  if (value.port === 0) errors.push({ name: "port", reason: "must be from 1 to 65535" });
  // Without user name and password, mail is sent without authentication.
  if (value.authentication_type !== "none" && (value.user_name !== "" || value.password !== ""))
    errors.push(...missing(value, ["user_name", "password"], "sign in"));
  return errors;
}

function problems(value: SmtpSettings): FieldError[] {
  const errors: FieldError[] = [];
  if (!Object.hasOwn(authenticationTypes, value.authentication_type))
    errors.push({ name: "authentication_type", reason: "must be authtype_username_and_password or none" });
  if (!methods.includes(value.authentication_method))
    errors.push({ name: "authentication_method", reason: `must be one of ${methods.join(", ")}` });
  // A line break would start another header or command.
  for (const name of ["sender_address", "server", "user_name", "domain"] as const)
    if (/\p{Cc}/u.test(value[name])) errors.push({ name, reason: "must not contain control characters" });
  if (value.sender_address !== "" && !isEmail(value.sender_address))
    errors.push({ name: "sender_address", reason: "must be an email address" });
  if (/[\s/]/.test(value.server)) errors.push({ name: "server", reason: "must be a host name or address" });
  return errors;
}
