// Variables in profiles: $SVC_VAR_HOST_UUID and custom host vitals are replaced for each host when the profile is queued
// for it, custom variables when the host gets it.
import { createHash } from "node:crypto";
import { IDP_SOURCE } from "../../hosts/hosts/emails.ts";
import { peopleOfHosts } from "../../hosts/scim/people.ts";
import { invalid } from "../../platform/core/errors.ts";
import { byId, groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { type EnrollSecretRow, newestSecrets } from "../../settings/enroll-secrets/newest.ts";
import { hostVariables } from "../../settings/variables/of-hosts.ts";
import { secretOf, variablesIn } from "../../settings/variables/text.ts";
import { secretVersions, valuesOnHosts } from "../../settings/variables/use.ts";
import { authorityVariable } from "./authorities.ts";
import { authorityVersions } from "./scep.ts";

const VARIABLE =
  /\$(?:\{SVC_((?:VAR|SECRET|HOST_VITAL)_[A-Za-z0-9_]+)\}|SVC_((?:VAR|SECRET|HOST_VITAL)_[A-Za-z0-9_]+))/g;

type ProfileVariable = (typeof hostVariables)[number];
/** By name, such as `VAR_HOST_UUID`. Of what is put in later it is not the value, but what changes with it. */
type HostValues = ReadonlyMap<string, string>;

/** Names the profile in the certificates that devices enroll with it. */
export const RENEWAL_ID = "VAR_SCEP_RENEWAL_ID";
export const renewalIdOf = (profileUuid: string): string => `svc-${profileUuid}`;

/** The enroll secret of the host's team, in the server's own profile for agents. Users' profiles cannot have it. */
export const AGENT_SECRET = "VAR_AGENT_ENROLL_SECRET";

export const namesIn = (text: string): string[] => Array.from(text.matchAll(VARIABLE), ([, a, b]) => (a ?? b)!);

export const replaceNames = (text: string, replaced: (name: string, whole: string) => string): string =>
  text.replace(VARIABLE, (whole, braced?: string, bare?: string) => replaced((braced ?? bare)!, whole));

/** Whether the value is put in only when the device gets the profile. */
export const isLate = (name: string): boolean =>
  name === AGENT_SECRET || secretOf(name) !== null || authorityVariable(name) !== null;

const isKnown = (name: string): name is ProfileVariable => (hostVariables as readonly string[]).includes(name);

/** Whether there is anything in the text that would be replaced. */
export const hasVariables = (text: string): boolean => text.search(VARIABLE) >= 0;

/** Whether the content has variables. 422 for one of the hosts' that does not exist. */
export function checkVariables(content: string, field: string): boolean {
  let hasVariables = false;
  for (const [whole, braced, bare] of content.matchAll(VARIABLE)) {
    const name = (braced ?? bare)!;
    if (
      name.startsWith("VAR_") &&
      name !== RENEWAL_ID &&
      authorityVariable(name) === null &&
      !isKnown(name.slice("VAR_".length))
    )
      throw invalid(
        field,
        `${whole} is not a variable for profiles; these are: ${hostVariables.map((variable) => `$SVC_VAR_${variable}`).join(", ")}`,
      );
    hasVariables = true;
  }
  return hasVariables;
}

/** The values of these hosts for the variables in the contents. A value that a host lacks is empty or missing. */
export async function valuesOfHosts(
  store: ServerTx,
  hostIds: readonly number[],
  contents: readonly string[],
): Promise<ReadonlyMap<number, HostValues>> {
  const custom = [...new Set(contents.flatMap(variablesIn))];
  const vitals = custom.filter((key) => secretOf(key) === null);
  const [hosts, emails, people, secrets, authorities, vitalValues] = await Promise.all([
    store.hosts.pick(["id", "uuid", "hardware_serial", "platform", "team_id"], { where: oneOf("id", hostIds) }),
    store.hostEmails.list({ where: and(oneOf("host_id", hostIds), eq("source", IDP_SOURCE)) }),
    peopleOfHosts(store, hostIds),
    secretVersions(store, custom),
    authorityVersions(store, contents.flatMap(namesIn)),
    valuesOnHosts(store, vitals, hostIds, null),
  ]);
  const hasSecret = contents.some((text) => namesIn(text).includes(AGENT_SECRET));
  const agentSecrets = hasSecret ? await newestSecrets(store) : new Map<number | null, EnrollSecretRow>();
  const emailsOf = groupBy(emails, ({ host_id }) => host_id);
  return new Map(
    [...byId(hosts)].map(([id, host]) => {
      const account = emailsOf.get(id)?.[0]?.email ?? "";
      const person = people.get(id);
      const userName = person?.user_name ?? account;
      const values: Readonly<Record<ProfileVariable, string>> = {
        HOST_UUID: host.uuid,
        HOST_HARDWARE_SERIAL: host.hardware_serial,
        HOST_PLATFORM: host.platform,
        HOST_END_USER_EMAIL_IDP: account,
        HOST_END_USER_IDP_USERNAME: userName,
        HOST_END_USER_IDP_USERNAME_LOCAL_PART: userName.split("@", 1)[0]!,
        HOST_END_USER_IDP_FULL_NAME: person?.full_name ?? "",
        HOST_END_USER_IDP_DEPARTMENT: person?.department ?? "",
        HOST_END_USER_IDP_GROUPS: (person?.groups ?? []).join(","),
      };
      const named = Object.entries(values).map(([name, value]): [string, string] => [`VAR_${name}`, value]);
      const agent = agentSecrets.get(host.team_id);
      if (agent) named.push([AGENT_SECRET, agent.secret_hash ?? ""]);
      return [id, new Map([...named, ...secrets, ...authorities, ...(vitalValues.get(id) ?? [])])];
    }),
  );
}

interface FilledText {
  /** What is put in later is still named in it, always with braces. */
  readonly text: string;
  /** Digest of the values that were used. */
  readonly digest: string;
  /** The variables for which the host has no value. */
  readonly missing: readonly string[];
}

export function fillVariables(
  text: string,
  profileUuid: string,
  values: HostValues,
  escaped: (value: string) => string,
): FilledText {
  const missing: string[] = [];
  const used: Record<string, string> = {};
  const late: string[] = [];
  const filled = replaceNames(text, (name, whole) => {
    const value = name === RENEWAL_ID ? renewalIdOf(profileUuid) : (values.get(name) ?? "");
    if (value === "") missing.push(whole);
    used[name] = value;
    if (!isLate(name)) return escaped(value);
    late.push(name);
    return `\${SVC_${name}}`;
  });
  // Hosts report some of the values: none of them may name a secret that the profile does not.
  if (namesIn(filled).filter(isLate).join() !== late.join())
    missing.push("a variable (its value names a custom variable)");
  const digest = createHash("sha256")
    .update(JSON.stringify(Object.entries(used).sort()))
    .digest("hex")
    .slice(0, 32);
  return { text: filled, digest, missing: [...new Set(missing)] };
}
