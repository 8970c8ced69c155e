import type { Context } from "../../platform/core/context.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { HostRow } from "../hosts/access.ts";
import {
  hostIdentified,
  identifierSpellings,
  renewedIdentifier,
  soleHostWithUuid,
  storedIdentifier,
} from "../hosts/identifier.ts";
import type { EnrollRequest, Hardware, MatchedHost } from "./kind.ts";
import { hostsOfHardware } from "./kind.ts";

type Match<R> = MatchedHost<R> & {
  /** The identifier to store. */
  readonly identifier: string;
};

type Deps = Pick<Context, "store" | "extensions">;

/** The known host of each request, if there is one. */
export async function matchHosts<R extends EnrollRequest>(ctx: Deps, requests: readonly R[]): Promise<Match<R>[]> {
  const { store } = ctx;
  const spellings = requests.flatMap(({ identifier }) => identifierSpellings(identifier));
  const rows = await store.hosts.list({ where: oneOf("identifier", spellings) });
  const byIdentifier = new Map(rows.map((row) => [row.identifier, row]));
  const managed = await managedHosts(ctx, requests);
  const match = async (request: R): Promise<Match<R>> => {
    const { identifier, uuid, teamId, hostId } = request;
    const as = (existing: HostRow): Match<R> => ({
      request,
      existing,
      identifier:
        isPlaceholder(existing) && !byIdentifier.has(storedIdentifier(identifier))
          ? storedIdentifier(identifier)
          : existing.identifier,
    });
    const proved = hostId === undefined ? null : await store.hosts.get(hostId);
    if (proved) return as(proved);
    const identified = hostIdentified(byIdentifier, identifier, teamId);
    // Another team may have a host whose identifier is this machine's UUID.
    const isOwn = identified !== undefined && identified.team_id === teamId;
    const sibling = isOwn || uuid === undefined ? null : await soleHostWithUuid({ store }, uuid, teamId);
    const existing = sibling ?? (isOwn ? null : managed(request));
    if (existing) return as(existing);
    if (identified) return { request, existing: identified, identifier: renewedIdentifier(byIdentifier, identified) };
    return { request, existing: null, identifier: storedIdentifier(identifier) };
  };
  const matches: Match<R>[] = [];
  for (const request of requests) matches.push(await match(request));
  return matches;
}

/** A host that the business portal expects has its serial number as identifier until something enrolls. */
const isPlaceholder = ({ identifier, hardware_serial, node_key_hash }: HostRow): boolean =>
  node_key_hash === null && identifier === storedIdentifier(hardware_serial);

/** The hosts that device management knows by the hardware of the requests. */
async function managedHosts<R extends EnrollRequest>({ store, extensions }: Deps, requests: readonly R[]) {
  const withHardware = requests.filter(
    (request): request is R & { hardware: Hardware } => request.hardware !== undefined,
  );
  const ids = new Map<EnrollRequest, number>();
  for (const lookup of withHardware.length === 0 ? [] : extensions.of(hostsOfHardware)) {
    const hostIds = await lookup(
      store,
      withHardware.map(({ hardware }) => hardware),
    );
    hostIds.forEach((id, i) => {
      if (id !== null && !ids.has(withHardware[i]!)) ids.set(withHardware[i]!, id);
    });
  }
  const rows = ids.size === 0 ? [] : await store.hosts.getMany([...new Set(ids.values())]);
  return (request: R): HostRow | null => {
    const host = rows.find(({ id }) => id === ids.get(request));
    const uuid = request.hardware?.uuid ?? "";
    // The host's serial number may be that of another machine.
    return host && (host.uuid === "" || host.uuid.toLowerCase() === uuid.toLowerCase()) ? host : null;
  };
}
