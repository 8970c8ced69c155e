// The SCEP proxy in profiles: a device enrolls a certificate at an authority through this server. Its address contains
// a secret for this profile on this host, valid for one certificate.
import type { CaType } from "../../../api/certificates/ca.ts";
import type { certificateAuthorities } from "../../certificates/ca/tables.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { linkTo } from "../../platform/core/http/links.ts";
import { byId } from "../../platform/core/maps.ts";
import { tokenHash } from "../../platform/core/random.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { authorityVariable, isRequested, variablesOf } from "./authorities.ts";
import type { HostProfileRow, ProfileRow } from "./platform.ts";
import type { profileChallenges } from "./tables.ts";

interface NamedAuthority {
  readonly type: CaType;
  readonly authority: string;
}

/** The authorities that the variables name, each once. */
function namedIn(names: readonly string[]): readonly NamedAuthority[] {
  const variables = names.map(authorityVariable).filter((variable) => variable !== null);
  return [...new Map(variables.map((variable) => [`${variable.type} ${variable.authority}`, variable])).values()];
}

type Authorities = Pick<ServerTx, "certificateAuthorities">;

/** The authorities that exist. A name belongs to one authority, of one type. */
async function findAuthorities(store: Authorities, named: readonly NamedAuthority[]) {
  if (named.length === 0) return [];
  const names = [...new Set(named.map(({ authority }) => authority))];
  const rows = await store.certificateAuthorities.list({ where: oneOf("name", names) });
  return rows.filter(({ name, type }) =>
    named.some((authority) => authority.authority === name && authority.type === type),
  );
}

/** 422 unless each authority exists, and the profile has both of its variables. */
export async function checkProxies(
  store: ServerTx,
  names: readonly string[],
  { platform, kind }: Pick<ProfileRow, "platform" | "kind">,
  field: string,
): Promise<void> {
  const named = namedIn(names);
  if (named.length === 0) return;
  if (kind !== "profile" || platform === "android")
    throw invalid(field, "variables of certificate authorities can be used in .mobileconfig and Windows profiles only");
  const authorities = await findAuthorities(store, named);
  for (const { type, authority } of named) {
    if (!authorities.some((row) => row.name === authority && row.type === type))
      throw invalid(field, `there is no certificate authority ${authority} of the type ${type}`);
    const both = variablesOf(type, authority);
    for (const needed of both)
      if (!names.includes(needed))
        throw invalid(field, `a profile with one variable of the authority ${authority} also needs $SVC_${needed}`);
  }
}

/** By variable: a text that changes with the authority, and says nothing about its challenge. */
export async function authorityVersions(
  store: ServerTx,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await findAuthorities(store, namedIn(names));
  return new Map(
    rows.flatMap(({ id, name, type, revision }) =>
      variablesOf(type, name).map((variable) => [variable, `${id}.${revision}`] as const),
    ),
  );
}

/** Profiles that are to be sent to a host get new secrets for these variables. */
export async function renewChallenges(
  inside: Context,
  pairs: readonly { readonly row: HostProfileRow; readonly names: readonly string[] }[],
): Promise<void> {
  const { store, random } = inside;
  const authorities = await findAuthorities(store, namedIn(pairs.flatMap(({ names }) => names)));
  if (authorities.length === 0) return;
  const base = await linkTo(inside, "/mdm/scep/proxy/");
  const hosts = byId(await store.hosts.pick(["id", "uuid"], { where: oneOf("id", [...hostIdsOf(pairs)]) }));
  const rows = pairs.flatMap(({ row: { host_id, profile_uuid }, names }) =>
    authorities
      .filter(({ name, type }) => variablesOf(type, name).some((variable) => names.includes(variable)))
      .map(({ id, name }) => {
        const secret = random.token(32);
        const identifier = [hosts.get(host_id)?.uuid ?? "", profile_uuid, name, secret].join(",");
        const url = `${base}${encodeURIComponent(identifier)}`;
        const nothing = { requested: null, requested_at: null, renew_at: null };
        return { host_id, profile_uuid, ca_id: id, url, secret_hash: tokenHash(secret), used: false, ...nothing };
      }),
  );
  await store.profileChallenges.upsert(rows, { on: ["host_id", "profile_uuid", "ca_id"], returning: [] });
}

const hostIdsOf = (pairs: readonly { readonly row: HostProfileRow }[]): Set<number> =>
  new Set(pairs.map(({ row }) => row.host_id));

/** A way to a certificate for a profile on a host, with the authority. */
export interface ChallengedProfile {
  readonly challenge: RowOf<typeof profileChallenges>;
  readonly authority: RowOf<typeof certificateAuthorities>;
}

/** For the profile that the host gets by this command. */
export async function challengesOf(
  store: ServerTx,
  names: readonly string[],
  { host_id, uuid }: { readonly host_id: number; readonly uuid: string },
): Promise<ChallengedProfile[]> {
  const authorities = byId(await findAuthorities(store, namedIn(names)));
  const challenged = and(eq("host_id", host_id), eq("command_uuid", uuid));
  const row = authorities.size === 0 ? null : await store.hostProfiles.first({ where: challenged });
  if (row === null) return [];
  const where = and(eq("host_id", host_id), eq("profile_uuid", row.profile_uuid));
  return (await store.profileChallenges.list({ where })).flatMap((challenge) => {
    const authority = authorities.get(challenge.ca_id);
    return authority === undefined ? [] : { challenge, authority };
  });
}

/** The values of these variables, without those that are requested from the authority. */
export async function proxyValues(
  store: ServerTx,
  names: readonly string[],
  command: { readonly host_id: number; readonly uuid: string },
): Promise<ReadonlyMap<string, string>> {
  const profiles = await challengesOf(store, names, command);
  return new Map(
    profiles.flatMap(({ challenge, authority }) => {
      const [address, secret] = variablesOf(authority.type, authority.name);
      return [
        [address!, challenge.url],
        [secret!, authority.secret],
      ].filter(([name]) => !isRequested(name!)) as [string, string][];
    }),
  );
}
