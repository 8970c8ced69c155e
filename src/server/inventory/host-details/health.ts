import type { HostHealth } from "../../../api/inventory/host-details.ts";
import { policiesOfHosts } from "../../checks/policies/results.ts";
import { type HostRow, hostFor } from "../../hosts/hosts/access.ts";
import { minutes } from "../../platform/core/clock.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { part } from "../../platform/core/running.ts";
import { oneOf } from "../../platform/store/query.ts";
import { compareText } from "../../platform/store/rows.ts";
import { cvesOf } from "../../software/software/service.ts";

/** How long a reply is cached. The reply contains the time at which it was computed. */
const GOOD_FOR = minutes(1);
const CACHED_MAX = 5_000;

interface CachedHealth {
  readonly at: number;
  readonly answer: Promise<HostHealth>;
}

const cached = part("health of hosts", () => new Map<number, CachedHealth>());

export async function healthOfHost(ctx: Context, id: number) {
  const host = await hostFor(ctx, "hosts:read", id);
  return { host_id: host.id, health: await cachedHealth(ctx, host) };
}

function cachedHealth(ctx: Context, host: HostRow): Promise<HostHealth> {
  const answers = ctx.running.of(cached);
  const now = ctx.clock.now();
  const fresh = answers.get(host.id);
  if (fresh && now - fresh.at < GOOD_FOR) return fresh.answer;
  if (answers.size >= CACHED_MAX) answers.clear();
  const answer = healthNow(ctx, host);
  const entry = { at: now, answer };
  answers.set(host.id, entry);
  answer.catch(() => {
    if (answers.get(host.id) === entry) answers.delete(host.id);
  });
  return answer;
}

async function healthNow(ctx: Context, host: HostRow): Promise<HostHealth> {
  const premium = isPremium(ctx);
  const updated_at = ctx.clock.iso();
  const [failing, vulnerable_software] = await Promise.all([failingPolicies(ctx, host), vulnerable(ctx, host.id)]);
  return {
    updated_at,
    os_version: host.os_version,
    disk_encryption_enabled: host.disk_encryption_enabled,
    failing_policies_count: failing.length,
    ...(premium ? { failing_critical_policies_count: failing.filter(({ critical }) => critical).length } : {}),
    failing_policies: failing.map(({ id, name, critical, resolution }) => ({
      id,
      name,
      ...(premium ? { critical } : {}),
      resolution,
      svc_maintained: false,
    })),
    vulnerable_software,
  };
}

async function failingPolicies(ctx: Context, host: HostRow) {
  const policies = (await policiesOfHosts(ctx, [host])).get(host.id) ?? [];
  return policies.filter(({ response }) => response === "fail");
}

async function vulnerable({ store }: Context, hostId: number): Promise<HostHealth["vulnerable_software"]> {
  const row = await store.hostSoftware.get(hostId);
  const cves = await cvesOf(store, row?.software_ids ?? []);
  const versions = await store.software.pick(["id", "name", "version"], { where: oneOf("id", [...cves.keys()]) });
  return versions
    .map(({ id, name, version }) => ({ id, name, version }))
    .sort((a, b) => compareText(a.name, b.name) || a.id - b.id);
}
