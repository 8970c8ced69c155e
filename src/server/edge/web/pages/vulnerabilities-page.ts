// The list of vulnerabilities, from GET /vulnerabilities.
import type { HostVulnerability } from "../../../../api/software/vulnerabilities.ts";
import { vulnerabilitiesApi } from "../../../../api/software/vulnerabilities.ts";
import { plural } from "../../../../text/plural.ts";
import { type Context, isPremium } from "../../../platform/core/context.ts";
import { ApiError } from "../../../platform/core/errors.ts";
import { call } from "../call.ts";
import { errorSentence } from "../error-page.ts";
import { type Html, html } from "../html.ts";
import { orderHeader } from "../order-header.ts";
import type { Answer, Visit } from "../page.ts";
import { alert, field, NO_VULNERABILITY_DATA, pageNumber, pager, SET_DATA_URL, select, when } from "../parts.ts";
import { teamChoices } from "../teams.ts";

const PER_PAGE = 50;
const PATH = "/vulnerabilities";
const names = ["query", "team_id", "exploit", "order_key", "order_direction", "page"] as const;

interface Column {
  readonly header: string;
  readonly order?: string;
  readonly cell: (row: HostVulnerability, team: string) => Html | string | number;
  readonly number?: boolean;
}

const percent = (value: number | null | undefined): string => (value == null ? "" : `${(value * 100).toFixed(1)} %`);

const columns = (ctx: Context): Column[] => [
  {
    header: "Hosts",
    order: "hosts_count",
    number: true,
    cell: ({ cve, hosts_count }, team) =>
      html`<a href="/hosts?vulnerability=${cve}${team !== "" && html`&amp;team_id=${team}`}">${hosts_count}</a>`,
  },
  ...(isPremium(ctx)
    ? [
        {
          header: "CVSS",
          order: "cvss_score",
          number: true,
          cell: ({ cvss_score }: HostVulnerability) => cvss_score ?? "",
        },
        {
          header: "EPSS",
          order: "epss_probability",
          number: true,
          cell: (row: HostVulnerability) => percent(row.epss_probability),
        },
        { header: "Exploited", cell: (row: HostVulnerability) => (row.cisa_known_exploit ? "yes" : "") },
        {
          header: "Published",
          order: "cve_published",
          cell: (row: HostVulnerability) => (row.cve_published ? when(ctx, row.cve_published) : ""),
        },
      ]
    : []),
  { header: "Found", order: "created_at", cell: ({ created_at }) => when(ctx, created_at) },
];

export async function vulnerabilitiesPage({ ctx, url }: Visit): Promise<Answer> {
  const params = new URLSearchParams(
    names.flatMap((name): [string, string][] => {
      const value = url.searchParams.get(name)?.trim() ?? "";
      return value === "" ? [] : [[name, value]];
    }),
  );
  const get = (name: string) => params.get(name) ?? "";
  const query = { ...Object.fromEntries(params), page: pageNumber(params), per_page: PER_PAGE };
  const [reply, teams] = await Promise.all([
    call(ctx, vulnerabilitiesApi.list, {
      query: query as (typeof vulnerabilitiesApi.list.query)["_zod"]["input"],
    }).catch((error: unknown) => {
      if (error instanceof ApiError && [400, 402, 404].includes(error.status)) return error;
      throw error;
    }),
    teamChoices(ctx),
  ]);
  const exploits = [
    { value: "", text: "Any" },
    { value: "true", text: "Known to be exploited" },
  ];
  return {
    title: "Vulnerabilities",
    status: reply instanceof ApiError ? reply.status : 200,
    body: html`<h1>Vulnerabilities</h1>
<form class="row card" method="get" action="${PATH}" role="search" aria-label="Vulnerabilities">
${field({ name: "query", label: "CVE", type: "search", value: get("query"), required: false, max: 1024, hint: "such as CVE-2026-1234" })}
${teams.length > 0 && select("team_id", "Team", get("team_id"), teams)}
${isPremium(ctx) && select("exploit", "Exploit", get("exploit"), exploits)}
${["order_key", "order_direction"].map((name) => get(name) !== "" && html`<input type="hidden" name="${name}" value="${get(name)}">`)}
<button>Show</button></form>
${reply instanceof ApiError ? alert(errorSentence(reply)) : results(ctx, params, reply)}`,
  };
}

interface VulnerabilitiesResult {
  readonly vulnerabilities: readonly HostVulnerability[];
  readonly count: number;
  readonly vulnerability_data_imported_at: string | null;
  readonly meta: { readonly has_next_results: boolean; readonly has_previous_results: boolean };
}

function results(ctx: Context, params: URLSearchParams, reply: VulnerabilitiesResult): Html {
  const { vulnerabilities, count, vulnerability_data_imported_at, meta } = reply;
  const shownColumns = columns(ctx);
  const team = params.get("team_id") ?? "";
  return html`<section class="card" aria-labelledby="found"><h2 id="found">${plural(count, "CVE")}</h2>
${
  vulnerabilities.length === 0
    ? html`<p class="quiet">${vulnerability_data_imported_at === null ? `${NO_VULNERABILITY_DATA} ${SET_DATA_URL}` : "No vulnerabilities found."}</p>`
    : html`<div class="scroll" role="region" aria-labelledby="found" tabindex="0"><table class="hosts"><caption class="hidden">Vulnerabilities found</caption>
<thead><tr>${orderHeader(PATH, params, { header: "CVE", order: "cve" })}${shownColumns.map((column) => orderHeader(PATH, params, column))}</tr></thead>
<tbody>${vulnerabilities.map(
        (row) =>
          html`<tr><th scope="row"><a href="${row.details_link}" rel="noreferrer">${row.cve}</a></th>${shownColumns.map(
            ({ cell, number }) => html`<td${number && html` class="number"`}>${cell(row, team)}</td>`,
          )}</tr>`,
      )}</tbody></table></div>`
}
${pager(PATH, params, meta, "vulnerabilities")}</section>`;
}
