// Renders the software of hosts for host replies. A host's list is one row of version ids. The versions are shared by
// all hosts.

import type { z } from "zod";
import type { HostSoftwareEntry, Vulnerability } from "../../../api/hosts/host-software.ts";
import type { SoftwareForm } from "../../../api/inventory/host-filters.ts";
import type { hostsApi } from "../../../api/inventory/hosts.ts";
import type { HostSoftwareItem } from "../../../api/software/software.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import type { Context } from "../../platform/core/context.ts";
import { pageOfArray } from "../../platform/core/http/paging.ts";
import { groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, oneOf, type Predicate } from "../../platform/store/query.ts";
import { compareText } from "../../platform/store/rows.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { HostOffer, OfferedHost } from "./host-offers.ts";
import { hostOffers } from "./host-offers.ts";
import { ownIcons } from "./icons.ts";
import { installedPaths } from "./installed-paths.ts";
import type { hostSoftware, InstalledDetails, software, softwareTitles } from "./tables.ts";
import { matchingCveFilter } from "./vulnerabilities/filter.ts";
import { ownCves, type VersionCve, vulnerabilityRenderer } from "./vulnerabilities/wire.ts";

type Version = RowOf<typeof software>;
type Title = RowOf<typeof softwareTitles>;

/** Sources whose entries report when they were last opened. Others have no such field. */
const tellsOpened: ReadonlySet<string> = new Set(["apps", "programs", "deb_packages", "rpm_packages"]);

/** Versions per read. */
const BATCH_SIZE = 1000;

async function versionsById(store: ServerTx, ids: Iterable<number>): Promise<Map<number, Version>> {
  const uniqueIds = [...new Set(ids)];
  const versions = new Map<number, Version>();
  for (let at = 0; at < uniqueIds.length; at += BATCH_SIZE)
    for (const version of await store.software.getMany(uniqueIds.slice(at, at + BATCH_SIZE)))
      versions.set(version.id, version);
  return versions;
}

/** The sorted CVE ids of each version that has any. */
export async function cvesOf(
  { softwareCves }: Pick<ServerTx, "softwareCves">,
  versionIds: Iterable<number>,
): Promise<Map<number, string[]>> {
  const uniqueIds = [...new Set(versionIds)];
  const cvesByVersion = new Map<number, string[]>();
  for (let at = 0; at < uniqueIds.length; at += BATCH_SIZE) {
    const query = { where: oneOf("software_id", uniqueIds.slice(at, at + BATCH_SIZE)) };
    for (const { software_id: id, cve } of await softwareCves.pick(["software_id", "cve"], query))
      cvesByVersion.set(id, [...(cvesByVersion.get(id) ?? []), cve]);
  }
  for (const cves of cvesByVersion.values()) cves.sort(compareText);
  return cvesByVersion;
}

/** The software of each host by host id, ordered by name, then by id. */
export async function softwareOfHosts(
  ctx: Pick<Context, "store" | "license">,
  hostIds: readonly number[],
  form: SoftwareForm,
): Promise<Map<number, HostSoftwareEntry[]>> {
  const rows = await ctx.store.hostSoftware.getMany(hostIds);
  const versions = await versionsById(
    ctx.store,
    rows.flatMap((row) => row.software_ids),
  );
  const cves = await ownCves(ctx.store, versions.keys());
  const rendered: (versionCve: VersionCve) => Vulnerability | string =
    form === "ids" ? ({ cve }: VersionCve) => cve : await vulnerabilityRenderer(ctx, [...cves.values()].flat());
  // Once for all hosts.
  const renderedCves = new Map([...cves].map(([id, versionCves]) => [id, versionCves.map(rendered)]));
  const vulnerabilitiesOf = (id: number): HostSoftwareEntry["vulnerabilities"] => renderedCves.get(id) ?? null;
  return new Map(rows.map((row) => [row.id, entriesOf(row, versions, vulnerabilitiesOf)]));
}

function entriesOf(
  { software_ids, details, home }: RowOf<typeof hostSoftware>,
  versions: ReadonlyMap<number, Version>,
  vulnerabilitiesOf: (id: number) => HostSoftwareEntry["vulnerabilities"],
): HostSoftwareEntry[] {
  return software_ids
    .map((id) => versions.get(id))
    .filter((version) => version !== undefined)
    .sort((a, b) => compareText(a.name, b.name) || a.id - b.id)
    .map((version) => entryOf(version, details[String(version.id)], home, vulnerabilitiesOf(version.id)));
}

function entryOf(
  version: Version,
  detail: InstalledDetails[string] | undefined,
  home: string,
  vulnerabilities: HostSoftwareEntry["vulnerabilities"],
): HostSoftwareEntry {
  return {
    id: version.id,
    name: version.name,
    version: version.version,
    source: version.source,
    browser: version.extension_for,
    extension_for: version.extension_for,
    ...(version.bundle_identifier === "" ? {} : { bundle_identifier: version.bundle_identifier }),
    ...(version.upgrade_code === "" ? {} : { upgrade_code: version.upgrade_code }),
    ...(tellsOpened.has(version.source) ? { last_opened_at: detail?.[0] ?? null } : {}),
    generated_cpe: version.generated_cpe,
    vulnerabilities,
    installed_paths: [...installedPaths(detail, version.usual_path, home)],
    ...signatureOf(version),
  };
}

/** Only for macOS apps. It is empty, because inventories do not report signatures. */
const signatureOf = ({ source }: Version): Pick<HostSoftwareEntry, "signature_information"> =>
  source === "apps" ? { signature_information: [] } : {};

export type HostSoftwareQuery = z.output<typeof hostsApi.software.query>;

/**
 * One host's software by title: a page of titles, ordered by name, with the versions that the host has, and what its team
 * offers of each. Titles that are not on the host are listed if they were installed or uninstalled there by this server,
 * or if the query asks for what is offered.
 */
export async function titlesOfHost(
  { store, extensions }: Pick<Context, "store" | "extensions">,
  host: OfferedHost,
  query: HostSoftwareQuery,
) {
  const row = await store.hostSoftware.get(host.id);
  const offers = (await Promise.all(extensions.of(hostOffers).map((offersOf) => offersOf(store, host)))).flat();
  const versions = await versionsById(store, row?.software_ids ?? []);
  const cves = await cvesOf(store, versions.keys());
  const matchingCves = matchingCveFilter(query);
  const vulnerable = matchingCves === null ? null : await titlesWith(store, versions, matchingCves);
  const byTitle = groupBy([...versions.values()], ({ title_id }) => title_id);
  const offerOf = new Map(offers.map((offer) => [offer.title_id, offer]));
  const offeredIds = offers.filter((offer) => isListed(offer, query)).map(({ title_id }) => title_id);
  const isAboutOffers = query.self_service || query.available_for_install;
  const titles = await store.softwareTitles.getMany([
    ...new Set(isAboutOffers ? offeredIds : [...byTitle.keys(), ...offeredIds]),
  ]);
  const needle = (query.query ?? "").toLowerCase();
  // The list shows both names.
  const isNamed = ({ id, name }: Title): boolean =>
    [name, offerOf.get(id)?.shown.display_name ?? ""].some((shownName) => shownName.toLowerCase().includes(needle));
  const sign = query.order_direction === "desc" ? -1 : 1;
  const matches = titles
    .filter((title) => isNamed(title) && (vulnerable === null || vulnerable.has(title.id)))
    .sort((a, b) => sign * (compareText(a.name, b.name) || a.id - b.id));
  const { software, meta } = pageOf(matches, query);
  const icons = await ownIcons(
    store,
    host.team_id,
    software.map(({ id }) => id),
  );
  const versionsOf = (id: number): HostSoftwareItem["installed_versions"] =>
    [...(byTitle.get(id) ?? [])]
      .sort((a, b) => compareText(a.version, b.version) || a.id - b.id)
      .map((version) =>
        installedOf(version, row?.details[String(version.id)], row?.home ?? "", cves.get(version.id) ?? null),
      );
  return {
    count: matches.length,
    software: software.map(
      (title): HostSoftwareItem => ({
        ...onWire(title),
        ...offerOf.get(title.id)?.shown,
        ...(icons.has(title.id) ? { icon_url: icons.get(title.id)! } : {}),
        installed_versions: versionsOf(title.id),
      }),
    ),
    meta,
  };
}

/** Whether the query asks for what is offered so. */
const isListed = ({ isAvailable, isSelfService, shown }: HostOffer, query: HostSoftwareQuery): boolean =>
  query.self_service ? isAvailable && isSelfService : query.available_for_install ? isAvailable : shown.status !== null;

/** A title that the team does not offer. */
const onWire = ({ id, name, source, extension_for }: Title) => ({
  id,
  name,
  display_name: "",
  icon_url: null,
  source,
  extension_for,
  status: null,
  software_package: null,
  app_store_app: null,
});

/** The titles of versions that have such a vulnerability. */
async function titlesWith(
  store: ServerTx,
  versions: ReadonlyMap<number, Version>,
  cves: Predicate,
): Promise<ReadonlySet<number>> {
  const titleIds = new Set<number>();
  for await (const batch of parts([...versions.keys()]))
    for (const { software_id } of await store.softwareCves.pick(["software_id"], {
      where: and(oneOf("software_id", batch), cves),
    }))
      titleIds.add(versions.get(software_id)!.title_id);
  return titleIds;
}

function pageOf<T>(items: readonly T[], query: HostSoftwareQuery) {
  const { items: software, meta } = pageOfArray(items, query);
  return { software, meta };
}

const installedOf = (
  version: Version,
  detail: InstalledDetails[string] | undefined,
  home: string,
  vulnerabilities: string[] | null,
): HostSoftwareItem["installed_versions"][number] => ({
  version: version.version,
  bundle_identifier: version.bundle_identifier,
  last_opened_at: detail?.[0] ?? null,
  vulnerabilities,
  installed_paths: [...installedPaths(detail, version.usual_path, home)],
  ...signatureOf(version),
});
