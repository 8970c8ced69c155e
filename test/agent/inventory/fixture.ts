import { readFileSync } from "node:fs";
import type { HostContext } from "../../../src/server/agent/inventory/fields.ts";
import { type HostChanges, hostChanges } from "../../../src/server/agent/inventory/host-fields.ts";
import { DETAIL_PREFIX, type DetailResults, detailResults } from "../../../src/server/agent-protocol/rows.ts";

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
  return detailResults(JSON.parse(readFileSync(new URL(`../../fixtures/agent/${name}.json`, import.meta.url), "utf8")));
}

export const context = (known: HostContext["known"] = {}, more: Partial<HostContext> = {}): HostContext => ({
  known,
  now: NOW,
  publicIp: "203.0.113.5",
  ...more,
});

export const changesOf = (name: Fixture, known: HostContext["known"] = {}): HostChanges =>
  hostChanges(answersOf(name), context(known));

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
  known: HostContext["known"] = {},
  more: Partial<HostContext> = {},
): HostChanges => hostChanges(answers(made), context(known, more));
