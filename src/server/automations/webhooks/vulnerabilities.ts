// Reports vulnerabilities that were first found on hosts within the last 30 days, and are not known for longer, each
// once.

import { days, isoAt } from "../../platform/core/clock.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import { isPremium, type Services } from "../../platform/core/context.ts";
import { serverUrl } from "../../platform/core/http/links.ts";
import { checkDestination } from "../../platform/core/outbound/fetch.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { enqueueMany, type Outgoing } from "../../platform/outbox/service.ts";
import { and, eq, exists, gt, gte, hasOf, isNull, lt, not, oneOf } from "../../platform/store/query.ts";
import { destinationOfTracker, trackerWith } from "../../settings/tickets/destination.ts";
import { cveTicket } from "../../settings/tickets/texts.ts";
import { installedPaths } from "../../software/software/installed-paths.ts";
import { osCves, softwareCves, UNKNOWN_TIME, vulnerabilities } from "../../software/software/vulnerabilities/tables.ts";
import { type CveDetails, detailsOf, linkOf } from "../../software/software/vulnerabilities/wire.ts";
import { batches } from "./failing-policies.ts";
import { type RenderedHost, renderedHosts } from "./hosts.ts";

/** How long a vulnerability counts as new. */
const NEW_FOR = days(30);
const BATCH_SIZE = 1_000;

export async function reportVulnerabilities(services: Services, signal: AbortSignal): Promise<void> {
  await noteSeen(services, signal);
  await skipOld(services);
  const { webhook_settings, integrations } = await services.config.current();
  const { enable_vulnerabilities_webhook: on, ...hook } = webhook_settings.vulnerabilities_webhook;
  const webhook = on && checkDestination(hook.destination_url) === null ? hook : null;
  const tracker = trackerWith(integrations, "enable_software_vulnerabilities");
  if (!webhook && !tracker) return;
  const since = isoAt(services.clock.now() - NEW_FOR);
  while (!signal.aborted) {
    const where = and(isNull("told_at"), gte("first_seen_at", since));
    const newCves = await services.store.seenCves.list({ where, limit: BATCH_SIZE });
    for (const { cve } of newCves) {
      if (signal.aborted) return;
      const hosts = await affected(services, cve);
      const details = isPremium(services)
        ? detailsOf((await services.store.vulnerabilities.first({ where: eq("cve", cve) })) ?? undefined)
        : null;
      const about = { event: "vulnerabilities" } as const;
      const all: Outgoing[] = webhook
        ? batches(hosts, webhook.host_batch_size).map((batch) => ({
            ...about,
            kind: "webhook",
            destination: webhook.destination_url,
            url: webhook.destination_url,
            payload: payloadOf(services, { cve, details, hosts: batch }),
          }))
        : [
            {
              ...about,
              kind: "ticket",
              destination: destinationOfTracker(tracker!),
              url: tracker!.entry.url,
              payload: { ...cveTicket({ cve, link: linkOf(cve), details }, hosts) },
            },
          ];
      await services.store.tx(
        async (tx) => {
          const reported = { where: and(eq("cve", cve), isNull("told_at")), set: { told_at: services.clock.iso() } };
          // If no host has the vulnerability any more, it is marked as reported without a request.
          if ((await tx.seenCves.update(reported)) > 0 && hosts.length > 0) await enqueueMany(tx, services, all);
        },
        { lock: "vulnerabilities reported" },
      );
    }
    if (newCves.length < BATCH_SIZE) return;
  }
}

/**
 * Records current vulnerabilities, even if no recipient is configured. Long-gone ones are removed and may become new
 * again.
 */
async function noteSeen({ store, clock }: Services, signal: AbortSignal): Promise<void> {
  const now = clock.iso();
  for (const rows of [store.softwareCves, store.osCves]) {
    const cves = await rows.groupCount("cve");
    for (let at = 0; at < cves.length && !signal.aborted; at += BATCH_SIZE)
      await store.seenCves.upsert(
        cves.slice(at, at + BATCH_SIZE).map(({ value }) => ({ cve: String(value), first_seen_at: now })),
        { on: ["cve"], set: [], returning: [] },
      );
  }
  await store.seenCves.delete(
    and(
      lt("first_seen_at", isoAt(clock.now() - NEW_FOR)),
      not(exists(softwareCves, "cve", undefined, "cve")),
      not(exists(osCves, "cve", undefined, "cve")),
    ),
  );
}

/**
 * Marks vulnerabilities as reported that were published before: after the first import, and with new software, they are
 * new to this server only.
 */
async function skipOld({ store, clock }: Services): Promise<void> {
  const published = and(gt("cve_published", UNKNOWN_TIME), lt("cve_published", isoAt(clock.now() - NEW_FOR)));
  await store.seenCves.update({
    where: and(isNull("told_at"), exists(vulnerabilities, "cve", published, "cve")),
    set: { told_at: clock.iso() },
  });
}

interface AffectedHost extends RenderedHost {
  readonly software_installed_paths: readonly string[];
}

async function affected(services: Services, cve: string): Promise<AffectedHost[]> {
  const { store } = services;
  const versionIds = (await store.softwareCves.pick(["software_id"], { where: eq("cve", cve) })).map(
    (row) => row.software_id,
  );
  const usualPaths = new Map<number, string>();
  for await (const batch of parts(versionIds))
    for (const { id, usual_path } of await store.software.pick(["id", "usual_path"], { where: oneOf("id", batch) }))
      usualPaths.set(id, usual_path);
  const paths = new Map<number, string[]>();
  if (usualPaths.size > 0)
    for await (const page of store.hostSoftware.pages({
      where: hasOf("software_ids", softwareCves, eq("cve", cve), "software_id"),
    }))
      for (const { id, software_ids, details, home } of page)
        paths.set(
          id,
          software_ids.flatMap((version) => {
            const usualPath = usualPaths.get(version);
            return usualPath === undefined ? [] : installedPaths(details[version], usualPath, home);
          }),
        );
  for (const id of await byOs(store, cve)) if (!paths.has(id)) paths.set(id, []);
  const hosts = await renderedHosts(store, [...paths.keys()], await serverUrl(services));
  return hosts.map((host) => ({ ...host, software_installed_paths: paths.get(host.id)! }));
}

async function byOs(store: ServerTx, cve: string): Promise<number[]> {
  const versions = await store.osCves.pick(["os_version_id"], { where: eq("cve", cve) });
  if (versions.length === 0) return [];
  const where = oneOf(
    "os_version_id",
    versions.map((row) => row.os_version_id),
  );
  return (await store.hosts.pick(["id"], { where })).map(({ id }) => id);
}

interface ReportedCve {
  readonly cve: string;
  /** Null on the free tier. */
  readonly details: CveDetails | null;
  readonly hosts: readonly AffectedHost[];
}

const payloadOf = (services: Services, { cve, details, hosts }: ReportedCve): Record<string, unknown> => ({
  timestamp: services.clock.iso(),
  vulnerability: {
    cve,
    details_link: linkOf(cve),
    ...(details && {
      epss_probability: details.epss_probability,
      cvss_score: details.cvss_score,
      cisa_known_exploit: details.cisa_known_exploit,
      cve_published: details.cve_published,
    }),
    hosts_affected: hosts,
  },
});
