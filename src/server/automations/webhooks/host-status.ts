// Reports when too many hosts have not checked in for days: of all hosts, and of each team by its own settings.
import { createHash } from "node:crypto";
import type { HostStatusWebhook } from "../../../api/settings/app-config.ts";
import { noContactSince } from "../../hosts/host-contact/contact.ts";
import { days, isoAt } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { checkDestination } from "../../platform/core/outbound/fetch.ts";
import { enqueue } from "../../platform/outbox/service.ts";
import { and, eq, everything } from "../../platform/store/query.ts";

interface Team {
  readonly id: number;
  readonly name: string;
}

/** Runs every `period` ms. The same report is not repeated within a period, even if a run failed in between. */
export async function reportHostStatus(services: Services, period: number, signal: AbortSignal): Promise<void> {
  const { webhook_settings } = await services.config.current();
  await notify(services, webhook_settings.host_status_webhook, null, period);
  for (const { id, name, settings } of await services.store.teams.pick(["id", "name", "settings"])) {
    if (signal.aborted) return;
    const hook = settings.webhook_settings?.host_status_webhook;
    if (hook) await notify(services, hook, { id, name }, period);
  }
}

async function notify(services: Services, hook: HostStatusWebhook, team: Team | null, period: number): Promise<void> {
  const { enable_host_status_webhook: on, destination_url: url, host_percentage: least, days_count: silent } = hook;
  if (!on || checkDestination(url) !== null) return;
  const { store, clock } = services;
  const now = clock.now();
  const ofTeam = team === null ? everything : eq("team_id", team.id);
  const total = await store.hosts.count(ofTeam);
  const unseen = await store.hosts.pick(["id"], {
    where: and(ofTeam, noContactSince(isoAt(now - days(silent)))),
    order: [{ column: "id", direction: "asc" }],
  });
  if (total === 0 || (unseen.length / total) * 100 < least) return;
  const data = {
    unseen_hosts: unseen.length,
    total_hosts: total,
    days_unseen: silent,
    host_ids: unseen.map(({ id }) => id),
    ...(team === null ? {} : { team_id: team.id }),
  };
  const payload = { text: messageText(data, team), data };
  const name = `host_status:${team?.id ?? 0}` as const;
  const digest = createHash("sha256")
    .update(JSON.stringify([url, data]))
    .digest("hex");
  await store.tx(
    async (tx) => {
      const last = await tx.webhookMarks.first({ where: eq("name", name) });
      // Runs may start a little earlier or later than scheduled.
      if (last?.digest === digest && now - Date.parse(last.at) < period * 0.9) return;
      await tx.webhookMarks.upsert([{ name, at: isoAt(now), digest }], { on: ["name"] });
      await enqueue(tx, services, {
        kind: "webhook",
        event: "host_status",
        destination: url,
        url,
        payload,
        team_id: team?.id ?? null,
      });
    },
    { lock: name },
  );
}

function messageText(
  { unseen_hosts: unseen, total_hosts: total, days_unseen: silent }: Record<string, unknown>,
  team: Team | null,
): string {
  const percent = Math.floor((Number(unseen) / Number(total)) * 100);
  const whose = team === null ? "your hosts" : `the hosts of team ${team.name}`;
  const time = silent === 1 ? "1 day" : `${silent} days`;
  return `${percent}% of ${whose} (${unseen} of ${total}) have not checked in for ${time}.`;
}
