import { deleteInBatches } from "../../checks/host-removal/removal.ts";
import { noContactSince } from "../../hosts/host-contact/contact.ts";
import { assignedHostIds } from "../../hosts/mdm-status/expected.ts";
import { days, hours, isoAt } from "../../platform/core/clock.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import { type Services, serviceContext } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { and, eq, isNull, oneOf, or, type Predicate } from "../../platform/store/query.ts";

/** Deletes hosts without contact for longer than the window of their team, or the global window. */
export const hostExpiry: Job = {
  name: "host_expiry",
  every: hours(1),
  async run(services, signal) {
    for (const { days: window, hosts } of await expiringHosts(services)) {
      const cutoff = isoAt(services.clock.now() - days(window));
      const where = and(hosts, noContactSince(cutoff));
      const silent = (await services.store.hosts.pick(["id"], { where })).map(({ id }) => id);
      const expected = await expectedHosts(services, silent);
      const ids = silent.filter((id) => !expected.has(id));
      const reason = { triggered_by: "expiration", host_expiry_window: window } as const;
      const deleted = await deleteInBatches(serviceContext(services), ids, where, reason, signal);
      if (deleted > 0) services.log.info({ hosts: deleted, days: window }, "expired hosts were deleted");
    }
  },
};

/** Devices that the business portal assigns to this server: they are new, or were reset, and will enroll. */
async function expectedHosts({ store }: Services, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const expected = new Set<number>();
  for await (const batch of parts(ids)) for (const id of await assignedHostIds(store, batch)) expected.add(id);
  return expected;
}

/** Teams with host expiry turned off use the global setting. */
async function expiringHosts({ config, store }: Services): Promise<{ days: number; hosts: Predicate }[]> {
  const { host_expiry_settings: global } = await config.current();
  const teams = await store.teams.pick(["id", "settings"]);
  const usable = (window: number) => Number.isSafeInteger(window) && window > 0 && window < 100_000;
  const expiringTeams = teams.filter(({ settings }) => settings.host_expiry_settings.host_expiry_enabled);
  const rest = teams.filter((team) => !expiringTeams.includes(team)).map(({ id }) => id);
  return [
    ...expiringTeams.map(({ id, settings }) => ({
      days: settings.host_expiry_settings.host_expiry_window,
      hosts: eq("team_id", id),
    })),
    ...(global.host_expiry_enabled
      ? [{ days: global.host_expiry_window, hosts: or(isNull("team_id"), oneOf("team_id", rest)) }]
      : []),
  ].filter(({ days: window }) => usable(window));
}
