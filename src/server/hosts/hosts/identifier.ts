// The spellings in which a host is found, and its identifier when it enrolls. Upper and lower case are considered equal.
// Names that people type are resolved in named.ts.

import { uuidIn } from "../../../text/uuid.ts";
import type { Context } from "../../platform/core/context.ts";
import { limit } from "../../platform/core/limits.ts";
import { and, eq, same } from "../../platform/store/query.ts";
import type { HostRow } from "./access.ts";

/** A longer text matches no host, because no longer identifier is stored. */
export const identifierLimit = limit({
  what: "identifier with which a query agent enrolls",
  max: 255,
  unit: "characters",
  beyond: "The enrollment is refused.",
});
export const IDENTIFIER_MAX = identifierLimit.max;

/** The text in composed and decomposed Unicode form, and a UUID without dashes or in braces in its usual form. */
export function spellingsOf(name: string): string[] {
  const text = name.trim();
  const uuid = uuidIn(text);
  return [...new Set([text, text.normalize("NFC"), text.normalize("NFD"), ...(uuid === null ? [] : [uuid])])].filter(
    (spelling) => spelling !== "",
  );
}

/** The stored form of an identifier. Lower case, so that no two hosts have identifiers that differ only in case. */
export const storedIdentifier = (identifier: string): string => identifier.normalize("NFC").toLowerCase();

/**
 * The spellings under which a host with this identifier may be stored, in order of precedence: as given, in lower case
 * (the current form), and in upper case (as firmware reports UUIDs). Earlier versions stored identifiers unchanged.
 */
export function identifierSpellings(identifier: string): string[] {
  const stored = storedIdentifier(identifier);
  const capitals = identifier.toUpperCase();
  // Upper case must convert back to the same text, which it does not for "ß" (SS).
  return [...new Set([identifier, stored, ...(storedIdentifier(capitals) === stored ? [capitals] : [])])];
}

/**
 * The host with this identifier. If several spellings are stored, hosts of the enroll secret's own team come first, so
 * that no other team can block an enrollment by using another spelling of its identifier.
 */
export const hostIdentified = <Row extends { readonly identifier: string; readonly team_id: number | null }>(
  hosts: ReadonlyMap<string, Row>,
  identifier: string,
  secretTeam: number | null,
): Row | undefined => {
  const matches = identifierSpellings(identifier).flatMap((spelling) => hosts.get(spelling) ?? []);
  return matches.find(({ team_id }) => team_id === secretTeam) ?? matches[0];
};

/**
 * The only host of the team with this hardware UUID. Null if several hosts have it, such as copies of a virtual machine,
 * because none of them is known to be the right one.
 */
export async function soleHostWithUuid(
  { store }: Pick<Context, "store">,
  uuid: string,
  teamId: number | null,
): Promise<HostRow | null> {
  const matches = await store.hosts.list({
    where: and(same("uuid", ...spellingsOf(uuid)), eq("team_id", teamId)),
    limit: 2,
  });
  return matches.length === 1 ? matches[0]! : null;
}

/** The identifier to store for a known host that enrolls again: the stored form, unless another host has it. */
export const renewedIdentifier = (
  hosts: ReadonlyMap<string, unknown>,
  host: { readonly identifier: string },
): string => {
  const stored = storedIdentifier(host.identifier);
  return hosts.has(stored) ? host.identifier : stored;
};
