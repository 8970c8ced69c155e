import { bool, id, idOf, json, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly scimUsers: typeof scimUsers;
    readonly scimLogins: typeof scimLogins;
    readonly scimGroups: typeof scimGroups;
    readonly scimMembers: typeof scimMembers;
    readonly scimRequests: typeof scimRequests;
    readonly hostEndUsers: typeof hostEndUsers;
  }
}

export interface StoredEmail {
  readonly value: string;
  readonly type?: string;
  readonly primary?: boolean;
}

/** The people that the identity provider has sent. */
export const scimUsers = table("scim_users", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  external_id: text().nullable().index(),
  /** The id in the directory that this row is read from; null if it is the identity provider's (from-directory.ts). */
  directory_id: text().nullable().index(),
  user_name: text(),
  /** In lower case: user names differ in more than case. */
  user_name_key: text().unique(),
  formatted_name: text().default(""),
  given_name: text().default(""),
  family_name: text().default(""),
  display_name: text().default(""),
  department: text().default("").index(),
  active: bool().default(true),
  emails: json<StoredEmail[]>(),
});

/** Names that accounts on hosts have in common with people: user names and email addresses, in lower case. */
export const scimLogins = table("scim_logins", {
  id: id(),
  user_id: ref("scim_users"),
  login: text().index(),
  kind: text<"user_name" | "email">(),
  /** Type of an email address, such as `work`; else empty. */
  type: text().default(""),
});

export const scimGroups = table("scim_groups", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  external_id: text().nullable().index(),
  /** Id in the directory; groups without one belong to the identity provider. */
  directory_id: text().nullable().index(),
  display_name: text().index(),
  /** In lower case. */
  display_name_key: text().unique(),
});

export const scimMembers = table(
  "scim_members",
  { id: id(), group_id: ref("scim_groups"), user_id: ref("scim_users") },
  { unique: [["group_id", "user_id"]] },
);

/** One row: the identity provider's last request. */
export const scimRequests = table("scim_requests", {
  id: id(),
  name: text().unique(),
  requested_at: time(),
  status: text<"success" | "error">(),
  details: text().default(""),
});

/** The person who uses a host, see links.ts. */
export const hostEndUsers = table("host_end_users", { id: idOf("hosts"), user_id: ref("scim_users") });
