// The start page: the number of hosts by status, and recent activities.

import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { activitiesApi } from "../../../../api/platform/activities.ts";
import { plural } from "../../../../text/plural.ts";
import { isPremium } from "../../../platform/core/context.ts";
import { maySomewhere } from "../../../platform/core/security/access.ts";
import { call } from "../call.ts";
import { type Html, html } from "../html.ts";
import type { Answer, Visit } from "../page.ts";
import { link, platformName, select } from "../parts.ts";
import { teamChoices } from "../teams.ts";
import { feed } from "./activities/view.ts";
import { ADD_HOSTS } from "./add-hosts-page.ts";

const ACTIVITIES_SHOWN = 10;
const PLATFORMS_SHOWN = 12;

export async function dashboard({ ctx, url }: Visit): Promise<Answer> {
  const { user } = ctx;
  const team = isPremium(ctx) ? url.searchParams.get("team_id") || undefined : undefined;
  const seesHosts = maySomewhere(user, "hosts:list");
  const [hosts, latest, teams] = await Promise.all([
    seesHosts ? call(ctx, hostsApi.summary, { query: { team_id: team } }) : null,
    user.global_role !== null && maySomewhere(user, "activities:list")
      ? call(ctx, activitiesApi.list, {
          query: { per_page: ACTIVITIES_SHOWN, order_key: "id", order_direction: "desc" },
        })
      : null,
    teamChoices(ctx),
  ]);
  return {
    title: "Dashboard",
    body: html`<div class="head"><h1>Dashboard</h1></div>
${await gitopsNote(ctx)}
${
  teams.length > 0 &&
  hosts !== null &&
  html`<form class="row short card" method="get" action="/" aria-label="Team">${select("team_id", "Team", team ?? "", teams)}<button class="plain">Show</button></form>`
}
${hosts === null && html`<div class="card"><p>Your role does not allow you to see hosts. Continue to <a href="/profile">your account</a>.</p></div>`}
<div class="grid">
${hosts !== null && statusCard(user, hosts, team)}
${hosts !== null && platformCard(hosts.platforms, hosts.totals_hosts_count, team)}
</div>
${
  latest !== null &&
  html`<section class="card" aria-labelledby="latest"><div class="head"><h2 id="latest">Latest activity</h2><a href="/activities">All activities</a></div>
${latest.activities.length === 0 ? html`<p class="quiet">No activity yet.</p>` : feed(ctx, latest.activities)}</section>`
}`,
  };
}

/** Where the configuration is changed while GitOps mode is on. */
async function gitopsNote({ config }: Visit["ctx"]): Promise<Html | false> {
  const { gitops } = await config.current();
  return (
    gitops.gitops_mode_enabled &&
    html`<div class="card" role="note"><p><strong>GitOps mode is on.</strong> The configuration is changed in the files of <a href="${gitops.repository_url}" rel="noreferrer">${gitops.repository_url}</a>. Changes made elsewhere are refused, unless a reason is given, which is recorded.</p></div>`
  );
}

interface Counts {
  readonly totals_hosts_count: number;
  readonly online_count: number;
  readonly offline_count: number;
  readonly missing_30_days_count: number;
  readonly new_count: number;
}

function statusCard(user: Visit["ctx"]["user"], hosts: Counts, team: string | undefined): Html {
  const total = hosts.totals_hosts_count;
  // Missing hosts are counted as offline too.
  const slices: { name: string; text: string; count: number; by: Record<string, string> }[] = [
    { name: "online", text: "Online", count: hosts.online_count, by: { status: "online" } },
    {
      name: "offline",
      text: "Offline",
      count: hosts.offline_count - hosts.missing_30_days_count,
      by: { where: "status = offline and not status = missing" },
    },
    {
      name: "missing",
      text: "Not seen for 30 days",
      count: hosts.missing_30_days_count,
      by: { status: "missing" },
    },
  ];
  const list = (by: Record<string, string>) => link("/hosts", new URLSearchParams(), { team_id: team ?? null, ...by });
  return html`<section class="card" aria-labelledby="status"><div class="head"><h2 id="status">Hosts</h2><a href="${list({})}">All hosts</a></div>
${
  total === 0
    ? html`<p>No host has enrolled yet. ${maySomewhere(user, "enroll_secrets:read") ? html`<a href="${ADD_HOSTS}">Add hosts</a>` : html`Ask an administrator to add hosts.`}</p>`
    : html`<div class="status">${ring(slices, total)}
<table><caption class="hidden">Hosts by status</caption><thead><tr><th scope="col">Status</th><th scope="col" class="number">Hosts</th></tr></thead><tbody>
${slices.map(
  ({ name, text, count, by }) =>
    html`<tr><th scope="row"><svg class="key" viewBox="0 0 8 8" aria-hidden="true"><rect class="${name}" width="8" height="8" rx="2"/></svg><a href="${list(by)}">${text}</a></th><td class="number">${count}</td></tr>`,
)}
<tr><th scope="row"><a href="${list({ status: "new" })}">New within a day</a></th><td class="number">${hosts.new_count}</td></tr>
</tbody></table></div>`
}</section>`;
}

/** A ring chart: each slice is a dash of a circle with circumference 100. The table beside it shows the same data. */
function ring(slices: readonly { name: string; count: number }[], total: number): Html {
  let turned = 25;
  const arcs = slices
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => {
      const share = (count / total) * 100;
      const arc = html`<circle class="ring ${name}" cx="21" cy="21" r="15.9155" stroke-dasharray="${share.toFixed(3)} ${(100 - share).toFixed(3)}" stroke-dashoffset="${turned.toFixed(3)}"/>`;
      turned -= share;
      return arc;
    });
  return html`<svg viewBox="0 0 42 42" role="img" aria-label="${plural(total, "host")}: ${slices.map(({ name, count }) => `${count} ${name}`).join(", ")}">
<circle class="ring back" cx="21" cy="21" r="15.9155"/>${arcs}
<text x="21" y="22.5">${short(total)}</text><text class="unit" x="21" y="28">${total === 1 ? "host" : "hosts"}</text></svg>`;
}

const short = (count: number): string =>
  count < 10_000 ? String(count) : count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1e6).toFixed(1)}M`;

function platformCard(
  platforms: readonly { platform: string; hosts_count: number }[],
  total: number,
  team: string | undefined,
): Html {
  const rows = [...platforms].sort((a, b) => b.hosts_count - a.hosts_count).slice(0, PLATFORMS_SHOWN);
  return html`<section class="card" aria-labelledby="platforms"><h2 id="platforms">Platforms</h2>
${
  rows.length === 0
    ? html`<p class="quiet">None yet.</p>`
    : html`<table><caption class="hidden">Hosts by platform</caption><thead><tr><th scope="col">Platform</th><th scope="col"><span class="hidden">Share</span></th><th scope="col" class="number">Hosts</th></tr></thead><tbody>
${rows.map(({ platform, hosts_count: count }) => {
  const where = /^[\w.-]+$/.test(platform) ? `platform = "${platform}"` : "";
  const address = link("/hosts", new URLSearchParams(), { team_id: team ?? null, where });
  return html`<tr><th scope="row">${where === "" ? platformName(platform) : html`<a href="${address}">${platformName(platform)}</a>`}</th>
<td class="barcell"><svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="all" width="100" height="6" rx="1"/><rect class="part" width="${((count / total) * 100).toFixed(2)}" height="6" rx="1"/></svg></td>
<td class="number">${count}</td></tr>`;
})}
</tbody></table>`
}</section>`;
}
