// The page of one host.

import { conditionalAccessApi } from "../../../../api/automations/conditional-access.ts";
import { commandsApi } from "../../../../api/devices/commands.ts";
import type { Host } from "../../../../api/hosts/host.ts";
import { hostActivitiesApi, type UpcomingActivity } from "../../../../api/hosts/host-activities.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import type { Activity } from "../../../../api/platform/activities.ts";
import { isAnyMdmOn } from "../../../devices/gate.ts";
import { type Context, isPremium } from "../../../platform/core/context.ts";
import { may } from "../../../platform/core/security/access.ts";
import { call } from "../call.ts";
import { type Html, html } from "../html.ts";
import type { Answer, Visit } from "../page.ts";
import { facts, hostStatus, pageNumber, pager, platformName, size, when } from "../parts.ts";
import { feed } from "./activities/view.ts";
import { accessCard } from "./cards/access-card.ts";
import { managementCard } from "./cards/management-card.ts";
import { COMMAND_PAGE, COMMANDS_PER_PAGE, commandCard } from "./command-card.ts";
import { actionCard, actionDone } from "./host-actions.ts";
import { policyCard, profileCard, SOFTWARE_PER_PAGE, softwareCard, softwareQuery } from "./host-parts.ts";

const ACTIVITIES_PER_PAGE = 15;

export async function hostPage(visit: Visit): Promise<Answer> {
  const { ctx, url, params } = visit;
  const id = params.id ?? "";
  const { host } = await call(ctx, hostsApi.get, { params: { id }, query: { exclude_software: true } });
  const query = url.searchParams;
  const path = `/hosts/${host.id}`;
  const [software, access, commands, done, upcoming] = await Promise.all([
    may(ctx.user, "software:list", host.team_id)
      ? call(ctx, hostsApi.software, { params: { id }, query: softwareQuery(query) })
      : null,
    isPremium(ctx) ? call(ctx, conditionalAccessApi.host, { params: { id } }) : null,
    host.mdm.connected_to_svc && may(ctx.user, "commands:read", host.team_id) && (await isAnyMdmOn(ctx))
      ? call(ctx, commandsApi.list, {
          query: {
            host_identifier: host.uuid,
            page: pageNumber(query, COMMAND_PAGE),
            per_page: COMMANDS_PER_PAGE,
          },
        })
      : null,
    call(ctx, hostActivitiesApi.list, {
      params: { id },
      query: { page: pageNumber(query, "activity_page"), per_page: ACTIVITIES_PER_PAGE },
    }),
    call(ctx, hostActivitiesApi.upcoming, { params: { id }, query: { page: 0, per_page: SOFTWARE_PER_PAGE } }),
  ]);
  const name = host.display_name || host.hostname || `host ${host.id}`;
  return {
    title: name,
    body: html`<p class="small"><a href="/hosts">Hosts</a></p>
<div class="head"><h1>${name}</h1><p>${hostStatus(host.status)} <span class="quiet">seen ${when(ctx, host.seen_time)}</span></p></div>
${actionDone(url)}${pendingNote(host)}
<div class="grid">${detailsCard(ctx, host)}${hardwareCard(ctx, host)}</div>
${actionCard(visit, host)}${policyCard(host.policies ?? [])}
${managementCard(ctx, host)}${access !== null && accessCard(ctx, access.conditional_access)}
${profileCard(host.mdm.profiles ?? [])}
${commands !== null && commandCard(ctx, path, query, commands)}
${software !== null && softwareCard(path, query, software)}
${upcoming.activities.length > 0 && activityCard(ctx, "upcoming", "Upcoming", upcoming.activities)}
${activityCard(ctx, "done", "Activity", done.activities, pager(path, query, done.meta, "activities", "activity_page"))}`,
  };
}

function pendingNote({ mdm }: Host): Html | false {
  const state = mdm.device_status === "unlocked" ? "" : `This host is ${mdm.device_status}.`;
  const pending = mdm.pending_action === "" ? "" : `${mdm.pending_action} is pending.`;
  const leaving = mdm.unenroll_pending ? "Device management is turned off when the device answers." : "";
  const text = [state, pending, leaving].filter(Boolean).join(" ");
  return text !== "" && html`<div class="message note"><p>${text.charAt(0).toUpperCase() + text.slice(1)}</p></div>`;
}

function detailsCard(ctx: Context, host: Host): Html {
  const labels = (host.labels ?? []).filter(({ name }) => name !== "All Hosts");
  return html`<section class="card" aria-labelledby="details"><h2 id="details">Details</h2>${facts([
    ["Platform", platformName(host.platform)],
    ["OS version", host.os_version],
    ["Team", host.team_name],
    ["Hostname", host.hostname],
    ["Enrolled", when(ctx, host.last_enrolled_at)],
    ["Details fetched", when(ctx, host.detail_updated_at)],
    ["Last restart", when(ctx, host.last_restarted_at)],
    ["Query engine", host.qengine_version],
    ["Agent", host.agent_version],
    [
      "Agent copied",
      host.agent_conflict &&
        html`to another machine, at ${host.agent_conflict.address}, ${when(ctx, host.agent_conflict.detected_at)}`,
    ],
    ["Device management", host.mdm.enrollment_status],
    ["Users", (host.users ?? []).map(({ username }) => username).join(", ")],
    [
      "Assigned to",
      (host.end_users ?? [])
        .flatMap(({ idp_username, other_emails }) => [idp_username, ...other_emails.map(({ email }) => email)])
        .filter(Boolean)
        .join(", "),
    ],
    [
      "Labels",
      labels.length > 0 &&
        html`${labels.map(({ id, name }, at) => html`${at > 0 && ", "}<a href="/hosts?label_id=${id}">${name}</a>`)}`,
    ],
  ])}</section>`;
}

function hardwareCard(_ctx: Context, host: Host): Html {
  const disk =
    host.gigs_total_disk_space > 0 &&
    `${host.gigs_disk_space_available} of ${host.gigs_total_disk_space} GB free (${host.percent_disk_space_available} %)`;
  return html`<section class="card" aria-labelledby="hardware"><h2 id="hardware">Hardware</h2>${facts([
    ["Model", [host.hardware_vendor, host.hardware_model].filter(Boolean).join(" ")],
    ["Serial number", host.hardware_serial && html`<span class="mono">${host.hardware_serial}</span>`],
    ["UUID", host.uuid && html`<span class="mono">${host.uuid}</span>`],
    ["Processor", host.cpu_brand],
    ["Memory", size(host.memory)],
    ["Disk", disk],
    [
      "Disk encryption",
      host.disk_encryption_enabled === undefined ? null : host.disk_encryption_enabled ? "on" : "off",
    ],
    ["IP address", host.primary_ip],
    ["Public address", host.public_ip],
    ["MAC address", host.primary_mac && html`<span class="mono">${host.primary_mac}</span>`],
    ["Battery", (host.batteries ?? []).map(({ health, cycle_count }) => `${health}, ${cycle_count} cycles`).join("; ")],
    [
      "Location",
      host.geolocation && [host.geolocation.city_name, host.geolocation.country_iso].filter(Boolean).join(", "),
    ],
  ])}</section>`;
}

function activityCard(
  ctx: Context,
  id: string,
  title: string,
  activities: readonly (Activity | UpcomingActivity)[],
  more: Html = html``,
): Html {
  return html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${activities.length === 0 ? html`<p class="quiet">No activity yet.</p>` : feed(ctx, activities, { exact: true })}${more}</section>`;
}
