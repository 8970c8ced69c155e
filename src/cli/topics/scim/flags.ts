// Attributes of people as flags.
import * as Flags from "@oclif/core/flags";
import { scimUrns } from "../../../api/hosts/scim.ts";
import { listOf } from "../../flags.ts";

export const personFlags = {
  "user-name": Flags.string({ summary: "User name at the identity provider, mostly an email address." }),
  "given-name": Flags.string({ summary: "Given name." }),
  "family-name": Flags.string({ summary: "Family name." }),
  "display-name": Flags.string({ summary: "Full name." }),
  email: Flags.string({ summary: "Email address; the first one is the primary one.", multiple: true }),
  department: Flags.string({ summary: "Department." }),
  "external-id": Flags.string({ summary: "Id at the identity provider." }),
  active: Flags.boolean({ summary: "Whether the person is active.", allowNo: true }),
};

interface UserFlags {
  readonly "user-name"?: string | undefined;
  readonly "given-name"?: string | undefined;
  readonly "family-name"?: string | undefined;
  readonly "display-name"?: string | undefined;
  readonly email?: string[] | undefined;
  readonly department?: string | undefined;
  readonly "external-id"?: string | undefined;
  readonly active?: boolean | undefined;
}

/** The attributes by the paths of SCIM. */
export function attributesOf(flags: UserFlags): Record<string, unknown> {
  const emails = listOf(flags.email).map((value, at) => ({
    value,
    type: "work",
    ...(at === 0 ? { primary: true } : {}),
  }));
  const all = {
    userName: flags["user-name"],
    externalId: flags["external-id"],
    displayName: flags["display-name"],
    "name.givenName": flags["given-name"],
    "name.familyName": flags["family-name"],
    active: flags.active,
    emails: flags.email === undefined ? undefined : emails,
    [`${scimUrns.enterprise}:department`]: flags.department,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** The body that creates a person. */
export function personOf(flags: UserFlags): Record<string, unknown> {
  const name = {
    ...(flags["given-name"] === undefined ? {} : { givenName: flags["given-name"] }),
    ...(flags["family-name"] === undefined ? {} : { familyName: flags["family-name"] }),
  };
  const plain = Object.entries(attributesOf(flags)).filter(([path]) => !/[.:]/.test(path));
  return {
    ...Object.fromEntries(plain),
    ...(Object.keys(name).length === 0 ? {} : { name }),
    ...(flags.department === undefined ? {} : { [scimUrns.enterprise]: { department: flags.department } }),
  };
}
