// Variables of the SCEP proxy in profiles: a device enrolls a certificate at an authority through this server. Its
// address contains a secret for this profile on this host, valid for one certificate.
import type { Context } from "../../core/context.ts";
import { invalid } from "../../core/errors.ts";
import { linkTo } from "../../core/http/links.ts";
import { byId } from "../../core/maps.ts";
import { tokenHash } from "../../core/random.ts";
import type { ServerTx } from "../../core/tables.ts";
import { and, eq, oneOf } from "../../store/query.ts";
import type { HostProfileRow, ProfileRow } from "./platform.ts";

const URL_OF = "VAR_CUSTOM_SCEP_PROXY_URL_";
const CHALLENGE_OF = "VAR_CUSTOM_SCEP_CHALLENGE_";

/** The name of the authority that the variable is about; null: it is about none. */
export function authorityOf(name: string): string | null {
  for (const prefix of [URL_OF, CHALLENGE_OF]) if (name.startsWith(prefix)) return name.slice(prefix.length);
  return null;
}

const distinct = (names: readonly string[]): string[] => [
  ...new Set(names.map(authorityOf).filter((name) => name !== null)),
];

const findAuthorities = (store: Pick<ServerTx, "certificateAuthorities">, names: readonly string[]) =>
  names.length === 0
    ? Promise.resolve([])
    : store.certificateAuthorities.list({ where: and(oneOf("name", names), eq("type", "custom_scep_proxy")) });

/** 422 unless each authority exists, and the profile has its address and its challenge. */
export async function checkProxies(
  store: ServerTx,
  names: readonly string[],
  { platform, kind }: Pick<ProfileRow, "platform" | "kind">,
  field: string,
): Promise<void> {
  const authorities = distinct(names);
  if (authorities.length === 0) return;
  if (kind !== "profile" || platform === "android")
    throw invalid(field, "variables of the SCEP proxy can be used in .mobileconfig and Windows profiles only");
  const known = new Set((await findAuthorities(store, authorities)).map(({ name }) => name));
  for (const name of authorities) {
    if (!known.has(name))
      throw invalid(field, `there is no certificate authority ${name} of the type custom_scep_proxy`);
    for (const needed of [URL_OF, CHALLENGE_OF])
      if (!names.includes(needed + name))
        throw invalid(field, `a profile with one variable of the authority ${name} also needs $SVC_${needed}${name}`);
  }
}

/** By variable: a text that changes with the authority, and says nothing about its challenge. */
export async function authorityVersions(
  store: ServerTx,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await findAuthorities(store, distinct(names));
  return new Map(
    rows.flatMap(({ id, name, revision }) =>
      [URL_OF, CHALLENGE_OF].map((prefix) => [prefix + name, `${id}.${revision}`] as const),
    ),
  );
}

/** Profiles that are to be sent to a host get new secrets for these variables. */
export async function renewChallenges(
  inside: Context,
  wanted: readonly { readonly row: HostProfileRow; readonly names: readonly string[] }[],
): Promise<void> {
  const { store, random } = inside;
  const authorities = await findAuthorities(store, distinct(wanted.flatMap(({ names }) => names)));
  if (authorities.length === 0) return;
  const base = await linkTo(inside, "/mdm/scep/proxy/");
  const hosts = byId(await store.hosts.pick(["id", "uuid"], { where: oneOf("id", [...hostIdsOf(wanted)]) }));
  const rows = wanted.flatMap(({ row: { host_id, profile_uuid }, names }) =>
    authorities
      .filter(({ name }) => distinct(names).includes(name))
      .map(({ id, name }) => {
        const secret = random.token(32);
        const identifier = [hosts.get(host_id)?.uuid ?? "", profile_uuid, name, secret].join(",");
        const url = `${base}${encodeURIComponent(identifier)}`;
        return { host_id, profile_uuid, ca_id: id, url, secret_hash: tokenHash(secret), used: false };
      }),
  );
  await store.profileChallenges.upsert(rows, { on: ["host_id", "profile_uuid", "ca_id"], returning: [] });
}

const hostIdsOf = (wanted: readonly { readonly row: HostProfileRow }[]): Set<number> =>
  new Set(wanted.map(({ row }) => row.host_id));

/** The values of these variables for the profile that the host gets by this command. */
export async function proxyValues(
  store: ServerTx,
  names: readonly string[],
  { host_id, uuid }: { readonly host_id: number; readonly uuid: string },
): Promise<ReadonlyMap<string, string>> {
  const authorities = byId(await findAuthorities(store, distinct(names)));
  const own = and(eq("host_id", host_id), eq("command_uuid", uuid));
  const row = authorities.size === 0 ? null : await store.hostProfiles.first({ where: own });
  if (row === null) return new Map();
  const where = and(eq("host_id", host_id), eq("profile_uuid", row.profile_uuid));
  const challenges = await store.profileChallenges.list({ where });
  return new Map(
    challenges.flatMap(({ ca_id, url }) => {
      const authority = authorities.get(ca_id);
      if (authority === undefined) return [];
      return [
        [URL_OF + authority.name, url],
        [CHALLENGE_OF + authority.name, authority.secret],
      ] as const;
    }),
  );
}
