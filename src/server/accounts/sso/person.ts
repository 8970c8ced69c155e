// Reads the person from a verified assertion.
import { roles as roleNames } from "../../../api/access.ts";
import { isEmail } from "../../../api/fields.ts";
import type { Assertion } from "../../platform/saml/assertion.ts";
import { SsoRefusal } from "../../platform/saml/refusal.ts";
import type { RolesInput } from "../users/roles.ts";
import type { SsoPerson } from "./account.ts";

/** The email address in the NameID, in the form stored in accounts. */
export function emailOf({ nameId }: Pick<Assertion, "nameId">): string {
  const email = nameId.toLowerCase();
  if (!isEmail(email))
    throw new SsoRefusal("the assertion's NameID is not an email address", { status: "account_invalid" });
  // Some letters become others in lower case (the Kelvin sign becomes a k). The result would be another person's
  // address.
  if (foreignLetters(email) !== foreignLetters(nameId))
    throw new SsoRefusal("the assertion's NameID has letters that become others in lower case", {
      status: "account_invalid",
    });
  return email;
}

const foreignLetters = (text: string): number => text.replace(/\p{ASCII}/gu, "").normalize("NFC").length;

const nameAttributes = [
  "name",
  "displayname",
  "cn",
  "urn:oid:2.5.4.3",
  "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name",
];

export function personOf(assertion: Assertion): SsoPerson {
  const email = emailOf(assertion);
  return { email, name: nameOf(assertion) || email, roles: rolesOf(assertion, email) };
}

function nameOf({ attributes }: Assertion): string {
  const byName = new Map([...attributes].map(([name, values]) => [name.toLowerCase(), values]));
  const firstName = nameAttributes.map((name) => clean(byName.get(name)?.[0] ?? "")).find((name) => name !== "");
  return firstName ?? "";
}

const clean = (name: string): string => [...name.replace(/\p{Cc}+/gu, " ").trim()].slice(0, 255).join("");

const PREFIX = "SVC_JIT_USER_ROLE_";

/**
 * The roles in the attributes. Null if there are none. The service that assigns roles checks whether they are
 * allowed.
 */
function rolesOf({ attributes }: Assertion, email: string): RolesInput | null {
  let global: string | undefined;
  const teams: { id: number; role: string }[] = [];
  for (const [name, values] of attributes) {
    if (!name.startsWith(PREFIX) || values.length === 0) continue;
    const [role = "", ...others] = new Set(values);
    if (others.length > 0) throw new SsoRefusal(`the attribute ${shown(name)} has several values`, { email });
    if (!roleNames.some((roleName) => roleName === role))
      throw new SsoRefusal(`the attribute ${shown(name)} is not a role`, { email });
    const team = /^TEAM_([1-9]\d{0,8})$/.exec(name.slice(PREFIX.length))?.[1];
    if (team !== undefined) teams.push({ id: Number(team), role });
    else if (name === `${PREFIX}GLOBAL`) global = role;
    else throw new SsoRefusal(`the attribute ${shown(name)} is neither _GLOBAL nor _TEAM_<id>`, { email });
  }
  if (global === undefined && teams.length === 0) return null;
  return { ...(global === undefined ? {} : { global_role: global }), ...(teams.length === 0 ? {} : { teams }) };
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 100));
