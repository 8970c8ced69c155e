// The list of hosts, from GET /hosts.

import type { Host } from "../../../../api/hosts/host.ts";
import { labelsApi } from "../../../../api/hosts/labels.ts";
import { hostFilters } from "../../../../api/inventory/host-filters.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { plural } from "../../../../text/plural.ts";
import { type Context, isPremium } from "../../../platform/core/context.ts";
import { ApiError } from "../../../platform/core/errors.ts";
import { maySomewhere } from "../../../platform/core/security/access.ts";
import { call, callWhole } from "../call.ts";
import { errorSentence } from "../error-page.ts";
import { type Html, html } from "../html.ts";
import { orderHeader } from "../order-header.ts";
import type { Answer, Visit } from "../page.ts";
import {
  alert,
  type Choice,
  field,
  hostStatus,
  link,
  pageNumber,
  pager,
  platformName,
  select,
  when,
} from "../parts.ts";
import { teamChoices } from "../teams.ts";
import { ADD_HOSTS } from "./add-hosts-page.ts";

const PER_PAGE = 50;
const LABELS_MAX = 1_000;
const PATH = "/hosts";

const statuses: readonly Choice[] = [
  { value: "", text: "Any" },
  { value: "online", text: "Online" },
  { value: "offline", text: "Offline" },
  { value: "new", text: "New within a day" },
  { value: "missing", text: "Not seen for 30 days" },
];

interface Column {
  readonly header: string;
  readonly order?: string;
  readonly cell: (host: Host) => Html | string | number;
  readonly number?: boolean;
}

const columns = (ctx: Context): Column[] => [
  { header: "Status", cell: ({ status }) => hostStatus(status) },
  { header: "Platform", order: "platform", cell: ({ platform }) => platformName(platform) },
  { header: "OS version", order: "os_version", cell: (host) => host.os_version },
  ...(isPremium(ctx) ? [{ header: "Team", order: "team_name", cell: (host: Host) => host.team_name ?? "" }] : []),
  {
    header: "Failing policies",
    order: "issues",
    number: true,
    cell: ({ issues }) => issues.failing_policies_count,
  },
  { header: "Last seen", order: "seen_time", cell: (host) => when(ctx, host.seen_time) },
];

/** Filters with form fields. Other filters come from links and are kept when the fields change. */
const inForm = ["query", "status", "team_id", "label_id", "where"];

export async function hostsPage({ ctx, url }: Visit): Promise<Answer> {
  const params = knownParams(url.searchParams);
  const [hostsResult, teams, labels] = await Promise.all([search(ctx, params), teamChoices(ctx), labelChoices(ctx)]);
  const others = [...params].filter(([name]) => name in hostFilters && !inForm.includes(name));
  const get = (name: string) => params.get(name) ?? "";
  return {
    title: "Hosts",
    status: "error" in hostsResult ? hostsResult.error.status : 200,
    body: html`<div class="head"><h1>Hosts</h1>${maySomewhere(ctx.user, "enroll_secrets:read") && html`<a href="${ADD_HOSTS}">Add hosts</a>`}</div>
<form class="row card" method="get" action="${PATH}" role="search" aria-label="Hosts">
${field({ name: "query", label: "Search", type: "search", value: get("query"), required: false, max: 1024, hint: undefined, wide: true })}
${select("status", "Status", get("status"), statuses)}
${teams.length > 0 && select("team_id", "Team", get("team_id"), teams)}
${labels.length > 0 && select("label_id", "Label", get("label_id"), labels)}
${field({ name: "where", label: "Selector", value: get("where"), required: false, max: 4096, wide: true, hint: "such as: platform = darwin and seen < 7d" })}
${others.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${["order_key", "order_direction"].map((name) => get(name) !== "" && html`<input type="hidden" name="${name}" value="${get(name)}">`)}
<button>Show</button>
</form>
${
  others.length > 0 &&
  html`<p class="small">Only hosts with ${others.map(
    ([name, value], at) =>
      html`${at > 0 && ", "}<code>${name}=${value}</code> (<a href="${link(PATH, params, { [name]: null, page: null })}">remove<span class="hidden"> ${name}</span></a>)`,
  )}</p>`
}
${"error" in hostsResult ? alert(errorSentence(hostsResult.error)) : results(ctx, params, hostsResult)}`,
  };
}

/** The parameters that the list accepts, without duplicates and empty values. */
function knownParams(params: URLSearchParams): URLSearchParams {
  const names = [...Object.keys(hostFilters), "order_key", "order_direction", "page"];
  return new URLSearchParams(
    names.flatMap((name): [string, string][] => {
      const value = params.get(name)?.trim() ?? "";
      return value === "" ? [] : [[name, value]];
    }),
  );
}

interface HostsResult {
  readonly hosts: readonly Host[];
  readonly meta: { has_next_results: boolean; has_previous_results: boolean };
  readonly total: number;
}

/** An invalid filter is reported beside the filters, so that the viewer can correct it. */
async function search(ctx: Context, params: URLSearchParams): Promise<HostsResult | { error: ApiError }> {
  const query = { ...Object.fromEntries(params), page: pageNumber(params), per_page: PER_PAGE, with_count: true };
  try {
    const { value, reply } = await callWhole(ctx, hostsApi.list, {
      query: query as (typeof hostsApi.list.query)["_zod"]["input"],
    });
    return { ...value, total: Number(reply.headers["x-total-count"]) };
  } catch (error) {
    if (error instanceof ApiError && [400, 402, 422].includes(error.status)) return { error };
    throw error;
  }
}

async function labelChoices(ctx: Context): Promise<Choice[]> {
  if (!maySomewhere(ctx.user, "labels:list")) return [];
  const { labels } = await call(ctx, labelsApi.summary);
  const named = labels.slice(0, LABELS_MAX).map(({ id, name }) => ({ value: String(id), text: name }));
  return [{ value: "", text: "Any" }, ...named.sort((a, b) => a.text.localeCompare(b.text))];
}

function results(ctx: Context, params: URLSearchParams, { hosts, meta, total }: HostsResult): Html {
  const shownColumns = columns(ctx);
  const start = pageNumber(params) * PER_PAGE;
  return html`<section class="card" aria-labelledby="found"><div class="head"><h2 id="found">${plural(total, "host")}</h2>
${hosts.length > 0 && html`<span class="quiet small">${start + 1} to ${start + hosts.length}</span>`}</div>
${
  hosts.length === 0
    ? html`<p class="quiet">No hosts found.</p>`
    : html`<div class="scroll" role="region" aria-labelledby="found" tabindex="0"><table class="hosts"><caption class="hidden">Hosts found</caption>
<thead><tr>${orderHeader(PATH, params, { header: "Host", order: "display_name" })}${shownColumns.map((column) => orderHeader(PATH, params, column))}</tr></thead>
<tbody>${hosts.map(
        (host) =>
          html`<tr><th scope="row"><a href="/hosts/${host.id}">${host.display_name || host.hostname || `host ${host.id}`}</a></th>${shownColumns.map(
            ({ cell, number }) => html`<td${number && html` class="number"`}>${cell(host)}</td>`,
          )}</tr>`,
      )}</tbody></table></div>`
}
${pager(PATH, params, meta, "hosts")}</section>`;
}
