// Metadata from a URL: fetched at the first sign-in, cached in memory, renewed in the background, and used for a
// while if renewal fails.
import type { SsoSettings } from "../../../api/settings/app-config.ts";
import { hours, minutes, seconds } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { part } from "../../platform/core/running.ts";
import { fetchMetadata } from "../../platform/saml/fetch-metadata.ts";
import { type IdentityProvider, MetadataProblem, readMetadata } from "../../platform/saml/metadata.ts";

const FRESH = minutes(5);
/** How long metadata may be used if it cannot be renewed. */
const STALE = hours(24);
/** The wait after a failed fetch. */
const PAUSE = seconds(15);

type Deps = Pick<Services, "running" | "clock" | "log" | "dryRun">;

interface Entry {
  cached: { readonly provider: IdentityProvider; readonly at: number } | null;
  failure: { readonly problem: MetadataProblem; readonly at: number } | null;
  fetching: Promise<IdentityProvider> | null;
}

/** What describes an identity provider: that of users, or that of the users of devices. */
export type ProviderSettings = Pick<SsoSettings, "issuer_uri" | "metadata" | "metadata_url">;

/** More than there are kinds of providers. Those of earlier settings are dropped first. */
const ENTRIES_MAX = 4;

const current = part("metadata for single sign-on", () => new Map<string, Entry>());

/** The configured identity provider. Throws `MetadataProblem` if its metadata is not available. */
export async function identityProvider(services: Deps, sso: ProviderSettings): Promise<IdentityProvider> {
  if (sso.metadata_url === "" && sso.metadata === "")
    throw new MetadataProblem("neither metadata nor metadata_url is set");
  const provider = sso.metadata_url === "" ? readMetadata(sso.metadata, sso.issuer_uri) : await byUrl(services, sso);
  if (isOver(provider, services.clock.now())) throw new MetadataProblem("the metadata has expired (validUntil)");
  return provider;
}

const isOver = ({ validUntil }: IdentityProvider, now: number): boolean => validUntil !== null && now >= validUntil;

function entryOf({ running }: Deps, { metadata_url: url, issuer_uri: issuer }: ProviderSettings): Entry {
  const key = JSON.stringify([url, issuer]);
  const entries = running.of(current);
  const existing = entries.get(key);
  if (existing) return existing;
  if (entries.size >= ENTRIES_MAX) for (const oldest of entries.keys()) if (entries.delete(oldest)) break;
  const created: Entry = { cached: null, failure: null, fetching: null };
  entries.set(key, created);
  return created;
}

async function byUrl(services: Deps, sso: ProviderSettings): Promise<IdentityProvider> {
  const entry = entryOf(services, sso);
  const now = services.clock.now();
  const age = entry.cached === null ? Number.POSITIVE_INFINITY : now - entry.cached.at;
  if (entry.cached !== null && age >= 0 && age < STALE && !isOver(entry.cached.provider, now)) {
    // The cached metadata is used for this sign-in while it is renewed in the background.
    if (age >= FRESH && mayTry(entry, now)) renew(services, sso, entry).catch(() => {});
    return entry.cached.provider;
  }
  if (!mayTry(entry, now)) throw entry.failure!.problem;
  return renew(services, sso, entry);
}

const mayTry = ({ failure }: Entry, now: number): boolean => failure === null || Math.abs(now - failure.at) >= PAUSE;

/** Concurrent callers share one fetch. */
function renew(services: Deps, sso: ProviderSettings, entry: Entry): Promise<IdentityProvider> {
  const at = services.clock.now();
  entry.fetching ??= fetchMetadata(services, sso)
    .then(
      (provider) => {
        entry.cached = { provider, at };
        entry.failure = null;
        return provider;
      },
      (error: unknown) => {
        if (error instanceof MetadataProblem) {
          entry.failure = { problem: error, at: services.clock.now() };
          services.log.warn({ reason: error.message }, "single sign-on: metadata cannot be fetched");
        }
        throw error;
      },
    )
    .finally(() => {
      entry.fetching = null;
    });
  return entry.fetching;
}
