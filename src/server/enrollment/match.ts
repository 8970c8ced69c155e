import type { Context } from "../core/context.ts";
import {
  hostIdentified,
  identifierSpellings,
  renewedIdentifier,
  soleHostWithUuid,
  storedIdentifier,
} from "../hosts/identifier.ts";
import { oneOf } from "../store/query.ts";
import type { EnrollRequest, Matched } from "./kind.ts";

type Match<R> = Matched<R> & {
  /** The identifier to store. */
  readonly identifier: string;
};

/** The known host of each request, if there is one. */
export async function matchHosts<R extends EnrollRequest>(
  store: Context["store"],
  requests: readonly R[],
): Promise<Match<R>[]> {
  const spellings = requests.flatMap(({ identifier }) => identifierSpellings(identifier));
  const rows = await store.hosts.list({ where: oneOf("identifier", spellings) });
  const byIdentifier = new Map(rows.map((row) => [row.identifier, row]));
  const match = async (request: R): Promise<Match<R>> => {
    const { identifier, uuid, teamId, hostId } = request;
    const proved = hostId === undefined ? null : await store.hosts.get(hostId);
    if (proved) return { request, known: proved, identifier: proved.identifier };
    const identified = hostIdentified(byIdentifier, identifier, teamId);
    // Another team may have a host whose identifier is this machine's UUID.
    const isOwn = identified !== undefined && identified.team_id === teamId;
    const sibling = isOwn || uuid === undefined ? null : await soleHostWithUuid({ store }, uuid, teamId);
    if (sibling) return { request, known: sibling, identifier: sibling.identifier };
    if (identified) return { request, known: identified, identifier: renewedIdentifier(byIdentifier, identified) };
    return { request, known: null, identifier: storedIdentifier(identifier) };
  };
  const matches: Match<R>[] = [];
  for (const request of requests) matches.push(await match(request));
  return matches;
}
