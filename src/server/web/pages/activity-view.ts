// Renders activities as sentences.
import type { Activity } from "../../../api/activities.ts";
import type { UpcomingActivity } from "../../../api/host-activities.ts";
import type { Context } from "../../core/context.ts";
import { type Html, html } from "../html.ts";
import { moment, plural, when } from "../parts.ts";

type ShownActivity = Activity | UpcomingActivity;
type Details = Readonly<Record<string, unknown>>;

const text = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : "";

/** Sentences for types whose names read badly. The subject follows, if there is one. */
const sentences: Record<string, (details: Details) => string> = {
  user_logged_in: (details) => `signed in${from(details)}`,
  user_failed_login: (details) =>
    `failed to sign in${text(details.email) === "" ? "" : ` as ${text(details.email)}`}${from(details)}`,
  user_added_by_sso: () => "was created by single sign-on",
  changed_user_global_role: ({ role }) => `assigned the role ${text(role)} to`,
  deleted_user_global_role: ({ role }) => `removed the role ${text(role)} from`,
  changed_user_team_role: ({ role, team_name: team }) => `assigned the role ${text(role)} on ${text(team)} to`,
  deleted_user_team_role: ({ role, team_name: team }) => `removed the role ${text(role)} on ${text(team)} from`,
  changed_user_password: ({ by }) => `changed the password${by === "link" ? " with a mailed link" : ""} of`,
  required_user_password_reset: ({ required }) =>
    `${required === true ? "requires" : "no longer requires"} a new password for`,
  ended_user_sessions: ({ sessions_count: ended }) => `ended ${plural(Number(ended) || 0, "session")} of`,
  edited_config: ({ sections }) => `changed the configuration${listed(sections)}`,
  live_query: (details) => `ran a live query on ${plural(Number(details.targets_count) || 0, "host")}`,
  svc_enrolled: () => "enrolled the host",
  host_enrollment_rejected: ({ reason }) => `refused an enrollment (${text(reason)}) of`,
  mdm_enrolled: () => "turned device management on for",
  mdm_unenrolled: () => "turned device management off for",
  transferred_hosts: ({ host_display_names: names }) => `moved ${plural(count(names), "host")} to`,
  deleted_multiple_saved_query: ({ query_ids: ids }) => `deleted ${count(ids)} saved queries`,
};
const from = (details: Details): string => (text(details.public_ip) === "" ? "" : ` from ${text(details.public_ip)}`);
const count = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
const listed = (value: unknown): string => (count(value) === 0 ? "" : `: ${(value as unknown[]).map(text).join(", ")}`);

/** The spelling of words that are not simply lower case. */
const words: Record<string, string> = {
  api: "API",
  mdm: "MDM",
  sso: "SSO",
  ios: "iOS",
  ipados: "iPadOS",
  macos: "macOS",
  windows: "Windows",
};
const typeInWords = (type: string): string =>
  type
    .split("_")
    .map((word) => (Object.hasOwn(words, word) ? words[word] : word))
    .join(" ");

/** The detail that names the affected object: preferably a host, and a team only if nothing else is named. */
function subjectOf(details: Details): string | undefined {
  const names = Object.keys(details).filter((key) => /(^|_)name$/.test(key) && text(details[key]) !== "");
  const rank = (name: string) =>
    name === "host_display_name" ? 0 : name === "team_name" ? 3 : name === "user_name" ? 2 : 1;
  return names.sort((x, y) => rank(x) - rank(y))[0];
}

export function feed(ctx: Context, activities: readonly ShownActivity[], { exact = false } = {}): Html {
  return html`<ol class="feed">${activities.map((one) => item(ctx, one, exact))}</ol>`;
}

function item(ctx: Context, activity: ShownActivity, exact: boolean): Html {
  const details = activity.details ?? {};
  const time = exact ? moment(activity.created_at) : when(ctx, activity.created_at);
  const more = Object.entries(details).filter(([, value]) => value !== null && value !== "");
  return html`<li>${sentence(activity, details)}${time}${
    exact &&
    more.length > 0 &&
    html`<details><summary class="small">Details<span class="hidden"> of ${activity.type}</span></summary><dl class="facts small">
<dt>type</dt><dd><code>${activity.type}</code></dd>${more.map(([name, value]) => html`<dt>${name}</dt><dd>${shown(value)}</dd>`)}</dl></details>`
  }</li>`;
}

function sentence(activity: ShownActivity, details: Details): Html {
  const who = activity.svc_initiated ? "svc" : activity.actor_full_name || "Somebody";
  const own = Object.hasOwn(sentences, activity.type) ? sentences[activity.type] : undefined;
  const done = own?.(details) ?? typeInWords(activity.type);
  const subject = subjectOf(details);
  const named = subject === undefined ? "" : text(details[subject]);
  const host = subject === "host_display_name" && Number.isSafeInteger(details.host_id) && details.host_id;
  return html`<strong>${who}</strong> ${done}${
    named !== "" &&
    html` ${typeof host === "number" && activity.type !== "deleted_host" ? html`<a href="/hosts/${host}">${named}</a>` : html`<em>${named}</em>`}`
  }`;
}

const LONGEST = 2_000;

function shown(value: unknown): Html {
  const whole = typeof value === "object" ? JSON.stringify(value) : String(value);
  return html`<code>${whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole}</code>`;
}
