// Renders activities as sentences.

import type { UpcomingActivity } from "../../../../../api/hosts/host-activities.ts";
import type { Activity } from "../../../../../api/platform/activities.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { type Html, html } from "../../html.ts";
import { moment, when } from "../../parts.ts";
import { type Details, sentences, text, upcoming } from "./sentences.ts";

type ShownActivity = Activity | UpcomingActivity;

/** The spelling of words that are not simply lower case. */
const words: Record<string, string> = {
  api: "API",
  ca: "CA",
  est: "EST",
  eula: "EULA",
  mdm: "MDM",
  scep: "SCEP",
  scim: "SCIM",
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

const isName = (key: string): boolean => /(^|_)(name|title|email|location)$/.test(key);
const places: ReadonlySet<string> = new Set(["host_display_name", "team_name"]);

/** For types without a sentence: the words of the type, the object, then its team and the host. */
function plainSentence(type: string, details: Details): string {
  const names = Object.keys(details).filter((key) => isName(key) && text(details[key]) !== "" && !places.has(key));
  const rank = (name: string) =>
    name === "software_title" ? 0 : name.endsWith("_email") ? 3 : name === "user_name" ? 2 : 1;
  const [subject] = names.sort((x, y) => rank(x) - rank(y));
  const done = typeInWords(type);
  if (subject !== undefined) return `${done} {${subject}}[ in the team {team_name}][ on {host}]`;
  return text(details.host_display_name) === "" ? `${done}[ {team_name}]` : `${done} {host}`;
}

export function feed(ctx: Context, activities: readonly ShownActivity[], { exact = false } = {}): Html {
  return html`<ol class="feed">${activities.map((activity) => item(ctx, activity, exact))}</ol>`;
}

function item(ctx: Context, activity: ShownActivity, exact: boolean): Html {
  const details = activity.details ?? {};
  const time = exact ? moment(activity.created_at) : when(ctx, activity.created_at);
  const more = Object.entries(details).filter(([, value]) => value !== null && value !== "");
  return html`<li>${sentence(activity, details)}${time}${
    exact &&
    more.length > 0 &&
    html`<details><summary class="small">Details<span class="hidden"> of ${activity.type}</span></summary><dl class="facts small">
<dt>type</dt><dd><code>${activity.type}</code></dd>${more.map(([name, value]) => html`<dt>${name}</dt><dd>${shownDetail(value)}</dd>`)}</dl></details>`
  }</li>`;
}

function sentence(activity: ShownActivity, details: Details): Html {
  const { type } = activity;
  const isByHost = !activity.svc_initiated && !activity.actor_full_name && isSelfService(type, details);
  const host = hostLink(type, details);
  const who = activity.svc_initiated
    ? "svc"
    : isByHost
      ? html`The user of ${host}`
      : activity.actor_full_name || "Somebody";
  const template = sentenceOf("uuid" in activity ? [upcoming, sentences] : [sentences], type);
  const text = (typeof template === "function" ? template(details) : template) ?? plainSentence(type, details);
  return html`<strong>${who}</strong> ${filled(text, details, isByHost ? null : host)}`;
}

/** The user of a host installs and removes software there without an account of this server. */
const isSelfService = (type: string, { self_service, host_display_name: host }: Details): boolean =>
  (self_service === true || type === "installed_all_self_service_software") && text(host) !== "";

type Sentences = Readonly<Record<string, (typeof sentences)[keyof typeof sentences]>>;

const sentenceOf = (tables: readonly Sentences[], type: string) =>
  tables.find((table) => Object.hasOwn(table, type))?.[type];

function hostLink(type: string, { host_id: id, host_display_name: host }: Details): Html | null {
  const name = text(host);
  if (name === "") return null;
  return typeof id === "number" && Number.isSafeInteger(id) && type !== "deleted_host"
    ? html`<a href="/hosts/${id}">${name}</a>`
    : html`<em>${name}</em>`;
}

/** The details in place of their names. Without `host`, parts that name it are left out. */
function filled(sentenceText: string, details: Details, host: Html | null): Html {
  const value = (key: string): Html | string | null => {
    if (key === "host") return host;
    const detail = Object.hasOwn(details, key) ? text(details[key]) : "";
    return detail === "" ? null : isName(key) ? html`<em>${detail}</em>` : detail;
  };
  const part = (template: string): (Html | string | null)[] =>
    template.split(/\{(\w+)\}/).map((piece, i) => (i % 2 === 1 ? value(piece) : piece));
  return html`${sentenceText.split(/\[([^\][]*)\]/).map((piece, i) => {
    const parts = part(piece);
    return i % 2 === 1 && parts.includes(null) ? "" : parts;
  })}`;
}

const DETAIL_MAX = 2_000;

function shownDetail(value: unknown): Html {
  const whole = typeof value === "object" ? JSON.stringify(value) : String(value);
  return html`<code>${whole.length > DETAIL_MAX ? `${whole.slice(0, DETAIL_MAX)}…` : whole}</code>`;
}
