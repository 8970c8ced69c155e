import { configSecrets } from "../../../../api/secret-fields.ts";
import { type Integrations, Integrations as IntegrationsSchema } from "../../../../api/settings/app-config.ts";
import type { FieldError } from "../../../platform/core/errors.ts";
import { hasCredentials } from "../../../platform/core/outbound/fetch.ts";
import { section } from "../section.ts";
import { badUrls, missing, under } from "./rules.ts";

/** The fields that identify entries. Teams refer to ticketing entries by these fields too. */
export const entryKeys = {
  ticketing_a: ["url", "project_key"],
  ticketing_b: ["url", "group_id"],
  calendar: ["domain"],
} as const;

export const integrations = section({
  name: "integrations",
  schema: IntegrationsSchema,
  defaults: {
    ticketing_a: [],
    ticketing_b: [],
    calendar: [],
    conditional_access_enabled: false,
    certificates_idp_introspection_urls: [],
    certificates_idp_client_ids: [],
    certificates_disable_host_end_user_binding: false,
  },
  ...configSecrets.integrations,
  entries: entryKeys,
  premium: ["conditional_access_enabled"],
  outbound: ["ticketing_a.*.url", "ticketing_b.*.url", "certificates_idp_introspection_urls.*"],
  check: (value) => [
    ...value.ticketing_a.flatMap((entry, i) =>
      under(`ticketing_a.${i}`, [
        ...missing(entry, ["url", "username", "api_token", "project_key"], "create tickets"),
        ...urlProblems(entry),
      ]),
    ),
    ...value.ticketing_b.flatMap((entry, i) =>
      under(`ticketing_b.${i}`, [
        ...missing(entry, ["url", "email", "api_token"], "create tickets"),
        ...(entry.group_id === 0 ? [{ name: "group_id", reason: "is required to create tickets" }] : []),
        ...urlProblems(entry),
      ]),
    ),
    ...value.calendar.flatMap((entry, i) => under(`calendar.${i}`, calendarProblems(entry))),
    ...value.certificates_idp_introspection_urls.flatMap((entry, i) => {
      const isFit = /^https:\/\//i.test(entry) && URL.canParse(entry) && !hasCredentials(entry);
      const name = `certificates_idp_introspection_urls.${i}`;
      return isFit ? [] : [{ name, reason: "must be an https URL without a user name or password" }];
    }),
    ...Object.entries(entryKeys).flatMap(([list, keys]) => repeated(list, value[list as keyof typeof entryKeys], keys)),
  ],
});

const urlProblems = (entry: { url: string }): FieldError[] =>
  hasCredentials(entry.url)
    ? [{ name: "url", reason: "must not contain a user name or password: the entry has fields for them" }]
    : badUrls(entry, ["url"]);

function calendarProblems({ domain, api_key_json: key }: Integrations["calendar"][number]): FieldError[] {
  const errors = missing({ domain }, ["domain"], "reach calendars");
  if (errors.length === 0 && !isDomain(domain))
    errors.push({ name: "domain", reason: "must be a domain such as example.com" });
  for (const name of ["client_email", "private_key"])
    if (typeof key[name] !== "string" || key[name] === "")
      errors.push({ name: `api_key_json.${name}`, reason: "is required, as in the service account's key file" });
  return errors;
}

const isDomain = (text: string): boolean =>
  text.length <= 253 &&
  text.split(".").every((label) => /^[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u.test(label));

function repeated(list: string, entries: readonly object[], keys: readonly string[]): FieldError[] {
  const identities = new Set<string>();
  return entries.flatMap((entry, i) => {
    const identity = JSON.stringify(keys.map((key) => (entry as Record<string, unknown>)[key]));
    if (identities.has(identity))
      return [{ name: `${list}.${i}.${keys[0]}`, reason: `another entry has the same ${keys.join(" and ")}` }];
    identities.add(identity);
    return [];
  });
}
