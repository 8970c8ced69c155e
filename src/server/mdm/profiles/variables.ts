// Variables in profiles, such as $SVC_VAR_HOST_UUID: replaced for each host when the profile is sent.
import { createHash } from "node:crypto";
import { invalid } from "../../core/errors.ts";
import { byId, groupBy } from "../../core/maps.ts";
import type { ServerTx } from "../../core/tables.ts";
import { and, eq, oneOf } from "../../store/query.ts";

const VARIABLE = /\$(?:\{SVC_((?:VAR|SECRET)_[A-Za-z0-9_]+)\}|SVC_((?:VAR|SECRET)_[A-Za-z0-9_]+))/g;

export const profileVariables = [
  "HOST_UUID",
  "HOST_HARDWARE_SERIAL",
  "HOST_PLATFORM",
  "HOST_END_USER_EMAIL_IDP",
  "HOST_END_USER_IDP_USERNAME",
  "HOST_END_USER_IDP_USERNAME_LOCAL_PART",
] as const;
export type ProfileVariable = (typeof profileVariables)[number];
export type HostValues = Readonly<Record<ProfileVariable, string>>;

const isKnown = (name: string): name is ProfileVariable => (profileVariables as readonly string[]).includes(name);

/** Whether there is anything in the text that would be replaced. */
export const hasVariables = (text: string): boolean => text.search(VARIABLE) >= 0;

/** Whether the content has variables. 422 for one that does not exist. */
export function checkVariables(content: string, field: string): boolean {
  let found = false;
  for (const [whole, braced, bare] of content.matchAll(VARIABLE)) {
    const name = (braced ?? bare)!;
    if (name.startsWith("SECRET_")) throw invalid(field, `the secret ${whole} is not defined on this server`);
    if (!isKnown(name.slice("VAR_".length)))
      throw invalid(
        field,
        `${whole} is not a variable for profiles; these are: ${profileVariables.map((one) => `$SVC_VAR_${one}`).join(", ")}`,
      );
    found = true;
  }
  return found;
}

/** The values of these hosts. A value that a host lacks is empty. */
export async function valuesOfHosts(
  store: Pick<ServerTx, "hosts" | "hostEmails">,
  hostIds: readonly number[],
): Promise<ReadonlyMap<number, HostValues>> {
  const [hosts, emails] = await Promise.all([
    store.hosts.pick(["id", "uuid", "hardware_serial", "platform"], { where: oneOf("id", hostIds) }),
    store.hostEmails.list({ where: and(oneOf("host_id", hostIds), eq("source", "mdm_idp_accounts")) }),
  ]);
  const emailsOf = groupBy(emails, ({ host_id }) => host_id);
  return new Map(
    [...byId(hosts)].map(([id, host]) => {
      const account = emailsOf.get(id)?.[0]?.email ?? "";
      return [
        id,
        {
          HOST_UUID: host.uuid,
          HOST_HARDWARE_SERIAL: host.hardware_serial,
          HOST_PLATFORM: host.platform,
          HOST_END_USER_EMAIL_IDP: account,
          HOST_END_USER_IDP_USERNAME: account,
          HOST_END_USER_IDP_USERNAME_LOCAL_PART: account.split("@", 1)[0]!,
        },
      ];
    }),
  );
}

export interface Filled {
  readonly text: string;
  /** Of the values that were used. */
  readonly digest: string;
  /** The variables for which the host has no value. */
  readonly missing: readonly string[];
}

export function fillVariables(text: string, values: HostValues, escaped: (value: string) => string): Filled {
  const missing: string[] = [];
  const used: Record<string, string> = {};
  const filled = text.replace(VARIABLE, (whole, braced?: string, bare?: string) => {
    const name = (braced ?? bare)!.slice("VAR_".length);
    const value = isKnown(name) ? values[name] : "";
    if (value === "") missing.push(whole);
    used[name] = value;
    return escaped(value);
  });
  const digest = createHash("sha256")
    .update(JSON.stringify(Object.entries(used).sort()))
    .digest("hex")
    .slice(0, 32);
  return { text: filled, digest, missing: [...new Set(missing)] };
}
