// The activity feed, newest first.
import { activitiesApi } from "../../../../../api/platform/activities.ts";
import { ApiError } from "../../../../platform/core/errors.ts";
import { call } from "../../call.ts";
import { errorSentence } from "../../error-page.ts";
import { html } from "../../html.ts";
import type { Answer, Visit } from "../../page.ts";
import { alert, field, pageNumber, pager } from "../../parts.ts";
import { feed } from "./view.ts";

const PER_PAGE = 50;
const PATH = "/activities";
const filters = ["query", "activity_type", "start_created_at", "end_created_at"] as const;

export async function activitiesPage({ ctx, url }: Visit): Promise<Answer> {
  const params = new URLSearchParams(
    [...filters, "page"].flatMap((name): [string, string][] => {
      const value = url.searchParams.get(name)?.trim() ?? "";
      return value === "" ? [] : [[name, value]];
    }),
  );
  const get = (name: string) => params.get(name) ?? undefined;
  const query = {
    ...Object.fromEntries(filters.map((name) => [name, get(name)])),
    page: pageNumber(params),
    per_page: PER_PAGE,
    order_key: "id",
    order_direction: "desc",
  } as const;
  const reply = await call(ctx, activitiesApi.list, { query }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 400) return error;
    throw error;
  });
  return {
    title: "Activities",
    status: reply instanceof ApiError ? reply.status : 200,
    body: html`<h1>Activities</h1>
<form class="row card" method="get" action="${PATH}" role="search" aria-label="Activities">
${field({ name: "query", label: "Who", type: "search", value: get("query"), required: false, max: 1024, hint: "name or email" })}
${field({ name: "activity_type", label: "Type", value: get("activity_type"), required: false, hint: "such as created_user" })}
${field({ name: "start_created_at", label: "After", value: get("start_created_at"), required: false, max: 64, hint: "such as 2026-01-31" })}
${field({ name: "end_created_at", label: "Before", value: get("end_created_at"), required: false, max: 64, hint: "such as 2026-01-31T12:00Z" })}
<button>Show</button></form>
${
  reply instanceof ApiError
    ? alert(errorSentence(reply))
    : html`<section class="card" aria-labelledby="found"><h2 id="found">Results</h2>
${reply.activities.length === 0 ? html`<p class="quiet">No activities found.</p>` : feed(ctx, reply.activities, { exact: true })}
${pager(PATH, params, reply.meta, "activities")}</section>`
}`,
  };
}
