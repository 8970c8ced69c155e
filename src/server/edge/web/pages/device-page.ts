// A host's own page, for its user: the data of GET /device/:token and its related endpoints, with their rate limits.
import { type DeviceHost, deviceApi } from "../../../../api/edge/device.ts";
import { mayBypass } from "../../../automations/conditional-access/bypass.ts";
import { isPremium } from "../../../platform/core/context.ts";
import { transparencyUrl } from "../../device-page/view.ts";
import { call } from "../call.ts";
import { type Html, html } from "../html.ts";
import type { Answer, Visit } from "../page.ts";
import { facts, good, hostStatus, note, platformName, size, when } from "../parts.ts";
import { afterSignIn } from "./device-sign-in.ts";
import { diskKeyCard } from "./disk-key-card.ts";
import { policyCard, softwareCard, softwareQuery } from "./host-parts.ts";
import { selfServiceCard } from "./self-service.ts";
import { setupCard } from "./setup.ts";

export const devicePage = (visit: Visit): Promise<Answer> => afterSignIn(visit, () => ownPage(visit));

async function ownPage(visit: Visit): Promise<Answer> {
  const { ctx, url } = visit;
  const token = visit.params.token ?? "";
  const { host } = await call(ctx, deviceApi.get, { params: { token } });
  const software = await call(ctx, deviceApi.software, { params: { token }, query: softwareQuery(url.searchParams) });
  const transparency = await transparencyUrl(ctx);
  const bypass = await bypassForm(visit, host);
  const failing = (host.policies ?? []).filter(({ response }) => response === "fail").length;
  const path = `/device/${encodeURIComponent(token)}`;
  const name = host.display_name || host.hostname || "This device";
  return {
    title: name,
    body: html`<div class="head"><h1>${name}</h1><p>${hostStatus(host.status)} <span class="quiet">seen ${when(ctx, host.seen_time)}</span></p></div>
${messages[url.searchParams.get("status") ?? ""]}
${await setupCard(visit, host.id)}
${failing > 0 ? note(`${failing} of your organization's policies ${failing === 1 ? "fails" : "fail"} on this device. See below how to fix ${failing === 1 ? "it" : "them"}.`) : isPremium(ctx) && passesAll(host.policies ?? []) && good("This device passes all policies.")}
<section class="card" aria-labelledby="device"><div class="head"><h2 id="device">This device</h2>
<form method="post" action="${path}/refetch">${visit.csrf()}<button class="plain little">Refetch</button></form></div>
${facts([
  ["Platform", platformName(host.platform)],
  ["OS version", host.os_version],
  ["Model", [host.hardware_vendor, host.hardware_model].filter(Boolean).join(" ")],
  ["Serial number", host.hardware_serial],
  ["Processor", host.cpu_brand],
  ["Memory", size(host.memory)],
  ["Disk space", host.gigs_total_disk_space > 0 && `${host.gigs_disk_space_available} GB free`],
  ["Disk encryption", host.disk_encryption_enabled === undefined ? null : host.disk_encryption_enabled ? "on" : "off"],
  ["Agent", host.agent_version],
  ["Details fetched", when(ctx, host.detail_updated_at)],
])}
<p class="small"><a href="${/^https?:/i.test(transparency) ? transparency : "/transparency"}">What your organization can see</a></p></section>
${
  canEnroll(host) &&
  html`<section class="card" aria-labelledby="manage"><h2 id="manage">Device management</h2>
<p>Your organization manages Macs, but not this one yet.</p><p><a class="button" href="${path}/enroll">Enroll this Mac</a></p></section>`
}
${await diskKeyCard(visit, host)}
${host.policies !== undefined && policyCard(host.policies)}
${bypass}
${await selfServiceCard(visit, token)}
${softwareCard(path, url.searchParams, software)}`,
  };
}

/** A policy without an answer is not passed. */
const passesAll = (policies: NonNullable<DeviceHost["policies"]>): boolean =>
  policies.length > 0 && policies.every(({ response }) => response === "pass");

const messages: Readonly<Record<string, Html>> = {
  asked: good("Your device will send its details within minutes."),
  installing: good("Your device will install the software as soon as it is online."),
  key: good("Your device is asked for a new recovery key as soon as it is online."),
  bypassed: good("Your next sign-in within an hour passes. Fix the failing policies before the one after that."),
  removing: good("Your device will remove the software as soon as it is online."),
};

/** Null unless the device cannot sign in to other services now, and its user may let that pass once. */
async function bypassForm({ ctx, params, csrf }: Visit, { team_id, policies = [] }: DeviceHost): Promise<Html | null> {
  const isBlocked = policies.some(
    ({ conditional_access_enabled, response }) => conditional_access_enabled && response === "fail",
  );
  if (!isBlocked || !(await mayBypass(ctx, { team_id }))) return null;
  const path = `/device/${encodeURIComponent(params.token ?? "")}/bypass`;
  return html`<section class="card" aria-labelledby="access"><h2 id="access">Signing in</h2>
<p>You cannot sign in to services of your organization while this device fails some of its policies.</p>
<form method="post" action="${path}">${csrf()}<button class="plain">Let my next sign-in pass</button></form></section>`;
}

const canEnroll = ({ platform, global_config, mdm }: DeviceHost): boolean =>
  platform === "darwin" && global_config.mdm.enabled_and_configured && !mdm.connected_to_svc;

export async function refetchDevice({ ctx, params }: Visit): Promise<Answer> {
  const token = params.token ?? "";
  await call(ctx, deviceApi.refetch, { params: { token } });
  return { to: `/device/${encodeURIComponent(token)}?status=asked` };
}
