// Names of a host that are also names of other hosts or of people: a certificate for them would identify both.
import { isTrusted } from "../../hosts/hosts/emails.ts";
import { spellingsOf } from "../../hosts/hosts/identifier.ts";
import type { Context } from "../../platform/core/context.ts";
import { and, eq, gte, lt, not, or, type Predicate, same, search } from "../../platform/store/query.ts";
import { folded, type HostNames, isOneOf, isPrincipal, refused } from "./host-names.ts";

/** 403 if another host, or somebody who does not use this one, has one of the requested names. */
export async function checkUnshared(
  { store }: Pick<Context, "store">,
  hostId: number,
  names: HostNames,
  requested: readonly string[],
): Promise<void> {
  const identifiers = new Set(requested.filter((name) => isOneOf(name, [names.uuid, names.serial, names.hostname])));
  for (const name of identifiers) {
    if (await isOfOtherHost(store, hostId, name))
      throw refused(
        `another host has the same UUID, serial number or name as ${JSON.stringify(name)}, so that a certificate for it would identify both`,
      );
    if (!isPrincipal(name, names) && (await isOfUser(store, folded(name))))
      throw refused(`${JSON.stringify(name)} is the name of a user who is not known as a user of the host`);
  }
}

type Store = Context["store"];

async function isOfOtherHost(store: Store, hostId: number, name: string): Promise<boolean> {
  const spellings = spellingsOf(name);
  const isSame = or(
    ...["uuid", "hardware_serial", "hostname", "display_name"].map((column) => same(column, ...spellings)),
  );
  if (await store.hosts.first({ where: and(isSame, not(eq("id", hostId))) })) return true;
  // The first part of a hostname is the name of the machine in its domain.
  const within = and(search(["hostname"], `${name}.`), not(eq("id", hostId)));
  const hosts = await store.hosts.pick(["hostname"], { where: within });
  return hosts.some(({ hostname }) => folded(hostname).startsWith(`${folded(name)}.`));
}

/** The whole name, or the part of an address before the @, which is the name of the account in many domains. */
async function isOfUser(store: Store, name: string): Promise<boolean> {
  const begins = (text: string) => folded(text) === name || folded(text).startsWith(`${name}@`);
  const named = (column: string): Predicate =>
    or(eq(column, name), and(gte(column, `${name}@`), lt(column, `${name}A`)));
  if (await store.users.first({ where: named("email") })) return true;
  if (await store.scimLogins.first({ where: named("login") })) return true;
  const emails = await store.hostEmails.pick(["email"], {
    where: and(or(same("email", name), search(["email"], `${name}@`)), isTrusted),
  });
  return emails.some(({ email }) => begins(email));
}
