// Email addresses of the people who use a host, by where they are from.
import { limit } from "../../platform/core/limits.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, not, oneOf } from "../../platform/store/query.ts";

const BROWSER = "browser_profiles";
const CUSTOM = "custom";
/**
 * Source of the user whom the host's own agent has named. Shown like `custom`, where no user has entered an address.
 */
const AGENT = "agent";
/** Source of the account with which somebody has signed in with the identity provider. */
export const IDP_SOURCE = "mdm_idp_accounts";
/** The maximum number of addresses that a host reports. Further ones are ignored. */
export const emailsLimit = limit({
  what: "addresses of users that an agent reports",
  max: 100,
  unit: "entries",
  per: "host",
  beyond: "The rest is ignored.",
});

/** Sets the one address that users enter by hand. */
export const setCustomEmail = (tx: ServerTx, hostId: number, email: string): Promise<void> =>
  setOnly(tx, hostId, email, CUSTOM);

/** Sets the one address that the host's agent names. It proves nothing about who uses the host. */
export const setAgentEmail = (tx: ServerTx, hostId: number, email: string): Promise<void> =>
  setOnly(tx, hostId, email, AGENT);

/** The addresses under the sources of the API. What a user has entered replaces what the agent has named. */
export function shownEmails(
  addresses: readonly { readonly email: string; readonly source: string }[],
): { email: string; source: string }[] {
  const isEntered = addresses.some(({ source }) => source === CUSTOM);
  return addresses
    .filter(({ source }) => source !== AGENT || !isEntered)
    .map(({ email, source }) => ({ email, source: source === AGENT ? CUSTOM : source }));
}

/** The sources in the order in which they are relied upon. */
export const emailSources: readonly string[] = [IDP_SOURCE, CUSTOM, AGENT, BROWSER];

/** Sets the address of the user who has signed in with the identity provider. Called by `scim/links.ts` only. */
export const setIdpEmail = (tx: ServerTx, hostId: number, email: string): Promise<void> =>
  setOnly(tx, hostId, email, IDP_SOURCE);

/** Removes it. Returns whether there was one. */
export const clearIdpEmail = async (tx: ServerTx, hostId: number): Promise<boolean> =>
  (await tx.hostEmails.delete(and(eq("host_id", hostId), eq("source", IDP_SOURCE)))) > 0;

/** Addresses that the host did not report itself. */
export const isTrusted = oneOf("source", [CUSTOM, IDP_SOURCE]);

/** Addresses of trusted sources, in lower case. */
export async function trustedEmails(store: Pick<ServerTx, "hostEmails">, hostId: number): Promise<string[]> {
  const where = and(eq("host_id", hostId), isTrusted);
  return (await store.hostEmails.pick(["email"], { where })).map(({ email }) => email.toLowerCase());
}

async function setOnly(tx: ServerTx, hostId: number, email: string, source: string): Promise<void> {
  const ofSource = and(eq("host_id", hostId), eq("source", source));
  await tx.hostEmails.delete(and(ofSource, not(eq("email", email))));
  await tx.hostEmails.upsert([{ host_id: hostId, email, source }], {
    on: ["host_id", "email", "source"],
    set: [],
    returning: [],
  });
}

interface ReportedEmails {
  readonly hostId: number;
  readonly emails: readonly string[];
}

/** Replaces the addresses that the hosts' agents found in browser profiles. */
export async function writeReportedEmails(tx: ServerTx, reported: readonly ReportedEmails[]): Promise<void> {
  if (reported.length === 0) return;
  const ids = reported.map(({ hostId }) => hostId);
  const stored = await tx.hostEmails.list({ where: and(oneOf("host_id", ids), eq("source", BROWSER)) });
  const desired = new Map(reported.map(({ hostId, emails }) => [hostId, new Set(emails.slice(0, emailsLimit.max))]));
  const gone = stored.filter(({ host_id, email }) => !desired.get(host_id)?.has(email)).map(({ id }) => id);
  for (const { host_id, email } of stored) desired.get(host_id)?.delete(email);
  const fresh = [...desired].flatMap(([host_id, emails]) =>
    [...emails].map((email) => ({ host_id, email, source: BROWSER })),
  );
  if (gone.length > 0) await tx.hostEmails.delete(oneOf("id", gone));
  if (fresh.length > 0)
    await tx.hostEmails.upsert(fresh, { on: ["host_id", "email", "source"], set: [], returning: [] });
}
