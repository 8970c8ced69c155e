// Parts of the host's own pages.
import type { z } from "zod";
import type { DevicePolicy } from "../../../../api/edge/device.ts";
import type { hostsApi } from "../../../../api/inventory/hosts.ts";
import type { HostSoftwareItem } from "../../../../api/software/software.ts";
import { type Html, html } from "../html.ts";
import { field, NO_VULNERABILITY_DATA, pageNumber, pager } from "../parts.ts";

const SOFTWARE_PER_PAGE = 25;
const SEARCH_PARAM = "software";
const PAGE_PARAMETER = "software_page";

const responses = {
  fail: { order: 0, badge: html`<span class="badge bad">failing</span>` },
  "": { order: 1, badge: html`<span class="badge off">not answered</span>` },
  pass: { order: 2, badge: html`<span class="badge good">passing</span>` },
};

type ShownPolicy = Pick<DevicePolicy, "id" | "name" | "description" | "resolution" | "critical" | "response">;

/** Failing policies come first, with their resolution. */
export function policyCard(policies: readonly ShownPolicy[]): Html {
  const ordered = [...policies].sort((a, b) => responses[a.response].order - responses[b.response].order);
  return html`<section class="card" aria-labelledby="policies"><h2 id="policies">Policies</h2>
${
  ordered.length === 0
    ? html`<p class="quiet">No policy applies.</p>`
    : html`<table class="loose"><caption class="hidden">Policies of this host</caption><thead><tr><th scope="col">Policy</th><th scope="col">Result</th></tr></thead><tbody>
${ordered.map(
  ({ name, description, resolution, critical, response }) =>
    html`<tr><th scope="row">${name}${critical && html` <span class="badge note">critical</span>`}
${(description || (response === "fail" && resolution)) && html`<details><summary class="small">${response === "fail" && resolution ? "How to fix it" : "Description"}<span class="hidden">: ${name}</span></summary>${description && html`<p class="small">${description}</p>`}${resolution && html`<p class="small">${resolution}</p>`}</details>`}</th>
<td>${responses[response].badge}</td></tr>`,
)}</tbody></table>`
}</section>`;
}

export const softwareQuery = (params: URLSearchParams) => ({
  query: params.get(SEARCH_PARAM)?.trim() || undefined,
  page: pageNumber(params, PAGE_PARAMETER),
  per_page: SOFTWARE_PER_PAGE,
});

type ShownTitle = Pick<HostSoftwareItem, "name" | "display_name" | "icon_url">;

/** The name that the team has given a title, or its own. */
export const nameOf = ({ name, display_name }: ShownTitle): string => display_name || name;

/** Addresses that a browser can load without a token of the API: those of the host's own page, and those of stores. */
const loadable = /^(https:|\/api\/[^/]+\/svc\/device\/)/;

/** The icon of a title, which its name follows. */
export const icon = ({ icon_url }: ShownTitle): Html | false =>
  icon_url !== null &&
  loadable.test(icon_url) &&
  html`<img class="icon" src="${icon_url}" alt="" width="24" height="24"> `;

type Software = z.output<typeof hostsApi.software.response>;

/** What this server was asked to do with a title, unless it is done. */
const installStates: Readonly<Record<string, Html>> = {
  pending_install: html` <span class="badge note">waiting to be installed</span>`,
  failed_install: html` <span class="badge bad">installation failed</span>`,
  pending_uninstall: html` <span class="badge note">waiting to be removed</span>`,
  failed_uninstall: html` <span class="badge bad">removal failed</span>`,
};

export function softwareCard(
  path: string,
  params: URLSearchParams,
  { software, count, meta, vulnerability_data_imported_at }: Software,
): Html {
  const searched = params.get(SEARCH_PARAM)?.trim() ?? "";
  return html`<section class="card" aria-labelledby="software"><div class="head"><h2 id="software">Software</h2><span class="quiet small">${count}${searched !== "" && " found"}</span></div>
${
  (count > SOFTWARE_PER_PAGE || searched !== "") &&
  html`<form class="row" method="get" action="${path}" role="search" aria-label="Software">${field({ name: SEARCH_PARAM, label: "Search software", type: "search", value: searched, required: false, max: 1024 })}<button class="plain">Search</button></form>`
}
${
  software.length === 0
    ? html`<p class="quiet">${searched === "" ? "No software is known." : "No software found."}</p>`
    : html`<table class="loose"><caption class="hidden">Software of this host</caption><thead><tr><th scope="col">Name</th><th scope="col">Version</th><th scope="col">Kind</th></tr></thead><tbody>
${software.map((item) => {
  const { source, status, installed_versions: versions } = item;
  const cves = new Set(versions.flatMap(({ vulnerabilities }) => vulnerabilities ?? []));
  return html`<tr><th scope="row">${icon(item)}${nameOf(item)}${cves.size > 0 && html` <span class="badge bad">${cves.size} CVE</span>`}${installStates[status ?? ""]}</th><td>${versions.map(({ version }) => version).join(", ")}</td><td>${source.replaceAll("_", " ")}</td></tr>`;
})}</tbody></table>`
}
${count > 0 && vulnerability_data_imported_at === null && html`<p class="quiet">${NO_VULNERABILITY_DATA}</p>`}
${pager(path, params, meta, "software", PAGE_PARAMETER)}</section>`;
}
