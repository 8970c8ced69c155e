import { readFileSync } from "node:fs";
import { inventorySources, readSources } from "../../../../src/server/edge/agent/ingest/sources.ts";
import { DetailQueries } from "../../../../src/server/edge/agent/inventory/detail-queries.ts";
import { hostChanges } from "../../../../src/server/edge/agent/inventory/host-fields.ts";
import { extensions } from "../../../../src/server/extensions.ts";
import type { CertificateInventory, PackStats } from "../../../../src/server/hosts/hosts/details.ts";
import { browserEmailInventory } from "../../../../src/server/hosts/hosts/inventory/browser-emails.ts";
import type { HostContext } from "../../../../src/server/hosts/hosts/inventory-fields.ts";
import { mdmInventory } from "../../../../src/server/hosts/mdm-status/ingest.ts";
import { munkiSource } from "../../../../src/server/hosts/munki/ingest.ts";
import {
  DETAIL_PREFIX,
  type DetailResults,
  detailResults,
} from "../../../../src/server/platform/agent-protocol/rows.ts";

export const fixtures = [
  "macos-14",
  "macos-15",
  "windows-10",
  "windows-11",
  "windows-server-2022",
  "ubuntu-22.04",
  "debian-12",
  "rhel-9",
  "centos-7",
  "arch",
] as const;
export type Fixture = (typeof fixtures)[number];

export const NOW = Date.parse("2026-03-01T12:00:00.000Z");

/** The detail results of one recorded distributed write. */
export function answersOf(name: Fixture): DetailResults {
  return detailResults(
    JSON.parse(readFileSync(new URL(`../../../fixtures/agent/${name}.json`, import.meta.url), "utf8")),
  );
}

export const context = (stored: HostContext["stored"] = {}, more: Partial<HostContext> = {}): HostContext => ({
  stored,
  now: NOW,
  publicIp: "203.0.113.5",
  ...more,
});

export const detailQueries = new DetailQueries(extensions.of(inventorySources));

/** What the server learns of a host from results: its own fields, and the values of all sources. Null: not reported. */
export function read(results: DetailResults, ctx: HostContext) {
  const { set, os, answers, warnings } = hostChanges(
    results,
    (query, family) => detailQueries.answersFor(query, family),
    ctx,
  );
  const found = readSources(extensions.of(inventorySources), answers, (_query, error) => {
    throw error;
  });
  return {
    set: { ...set, ...found.set },
    os,
    users: found.details.users ?? null,
    batteries: found.details.batteries ?? null,
    certificates: (found.details.certificates ?? null) as CertificateInventory[] | null,
    packStats: (found.details.pack_stats ?? null) as PackStats[] | null,
    mdm: mdmInventory.read(answers),
    munki: munkiSource.read(answers),
    browserEmails: browserEmailInventory.read(answers),
    warnings,
  };
}

export const changesOf = (name: Fixture, stored: HostContext["stored"] = {}) => read(answersOf(name), context(stored));

/** Results invented for a test: rows, or a failure. */
export function answers(made: Record<string, unknown[] | "failed">): DetailResults {
  const queries: Record<string, unknown> = {};
  const statuses: Record<string, number> = {};
  for (const [key, rows] of Object.entries(made)) {
    queries[DETAIL_PREFIX + key] = rows === "failed" ? [] : rows;
    statuses[DETAIL_PREFIX + key] = rows === "failed" ? 1 : 0;
  }
  return detailResults({ queries, statuses });
}

export const changes = (
  made: Record<string, unknown[] | "failed">,
  stored: HostContext["stored"] = {},
  more: Partial<HostContext> = {},
) => read(answers(made), context(stored, more));
