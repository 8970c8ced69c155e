// Small HTML parts that pages share.
import type { Context } from "../../platform/core/context.ts";
import { type Html, html } from "./html.ts";

const steps: readonly [number, string][] = [
  [60, "second"],
  [60, "minute"],
  [24, "hour"],
  [30, "day"],
  [12, "month"],
  [Number.POSITIVE_INFINITY, "year"],
];
const BEFORE_ANY = Date.UTC(2001, 0, 1);

/** "3 minutes ago" or "in 3 days". A time before 2001 means never. */
function ago(time: string, now: number): string {
  const at = Date.parse(time);
  if (Number.isNaN(at) || at < BEFORE_ANY) return "never";
  let amount = Math.round(Math.abs(now - at) / 1000);
  if (amount < 5) return "just now";
  for (const [size, word] of steps) {
    const text = `${amount} ${word}${amount === 1 ? "" : "s"}`;
    if (amount < size) return at > now ? `in ${text}` : `${text} ago`;
    amount = Math.round(amount / size);
  }
  return time;
}

/** A relative time, with the exact time as an attribute. */
export function when({ clock }: Pick<Context, "clock">, time: string | null | undefined): Html {
  if (!time) return html`never`;
  const text = ago(time, clock.now());
  return text === "never" ? html`never` : html`<time datetime="${time}">${text}</time>`;
}

export const alert = (text: string | Html): Html => html`<div class="message bad" role="alert"><p>${text}</p></div>`;
export const good = (text: string | Html): Html => html`<div class="message good" role="status"><p>${text}</p></div>`;
export const note = (text: string | Html): Html => html`<div class="message note" role="status"><p>${text}</p></div>`;

interface Field {
  readonly name: string;
  readonly label: string;
  readonly type?: "text" | "email" | "password" | "search";
  readonly value?: string | undefined;
  readonly autocomplete?: string;
  readonly hint?: string | undefined;
  /** The error for the entered value. The page opens with the focus on this field. */
  readonly wrong?: string | undefined;
  readonly required?: boolean;
  readonly max?: number;
  readonly wide?: boolean;
  /** Whether the field has the focus when the page opens. */
  readonly focus?: boolean;
}

/** A labelled input. A password is never sent back to the browser. */
export function field(options: Field): Html {
  const { name, label, type = "text", hint, wrong, required = true, max = 255 } = options;
  const id = `field-${name}`;
  const describedBy = [hint && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(" ");
  return html`<div class="${options.wide ? "field wide" : "field"}"><label for="${id}">${label}</label>
<input id="${id}" name="${name}" type="${type}" maxlength="${max}"${type !== "password" && html` value="${options.value ?? ""}"`}${options.autocomplete && html` autocomplete="${options.autocomplete}"`}${required && html` required`}${(options.focus || wrong) && html` autofocus`}${wrong && html` aria-invalid="true"`}${describedBy && html` aria-describedby="${describedBy}"`}>
${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}${wrong && html`<p class="wrong" id="${id}-wrong">${wrong}</p>`}</div>`;
}

/** A hidden field from which password managers learn the account of the new password. The server ignores it. */
export const accountField = (email: string): Html =>
  html`<input name="username" type="email" autocomplete="username" value="${email}" aria-label="Account" readonly hidden>`;

export function facts(pairs: readonly (readonly [string, Html | string | number | null | undefined | false])[]): Html {
  const shownPairs = pairs.filter(
    ([, value]) => value !== null && value !== undefined && value !== "" && value !== false,
  );
  return html`<dl class="facts">${shownPairs.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** The URL with some parameters changed. Empty parameters are removed. */
function link(path: string, params: URLSearchParams, changes: Record<string, string | number | null>): string {
  const next = new URLSearchParams([...params].filter(([name, value]) => !(name in changes) && value !== ""));
  for (const [name, value] of Object.entries(changes))
    if (value !== null && value !== "") next.set(name, String(value));
  const text = next.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** A number from the URL, such as the page. */
export function pageNumber(params: URLSearchParams, name = "page"): number {
  const text = params.get(name) ?? "";
  return /^\d{1,6}$/.test(text) ? Number(text) : 0;
}

interface PageMeta {
  readonly has_next_results: boolean;
  readonly has_previous_results: boolean;
}

export function pager(path: string, params: URLSearchParams, meta: PageMeta, what: string, name = "page"): Html {
  if (!meta.has_next_results && !meta.has_previous_results) return html``;
  const at = pageNumber(params, name);
  return html`<nav class="pages" aria-label="Pages of ${what}">
${meta.has_previous_results && html`<a class="button plain" rel="prev" href="${link(path, params, { [name]: at === 1 ? null : at - 1 })}">Previous</a>`}
<span>Page ${at + 1}</span>
${meta.has_next_results && html`<a class="button plain" rel="next" href="${link(path, params, { [name]: at + 1 })}">Next</a>`}
</nav>`;
}

const platformNames: Record<string, string> = {
  darwin: "macOS",
  windows: "Windows",
  ubuntu: "Ubuntu",
  debian: "Debian",
  rhel: "Red Hat / Fedora",
  centos: "CentOS",
  chrome: "ChromeOS",
  ios: "iOS",
  ipados: "iPadOS",
  android: "Android",
  linux: "Linux",
  amzn: "Amazon Linux",
  arch: "Arch Linux",
  endeavouros: "EndeavourOS",
  gentoo: "Gentoo",
  kali: "Kali Linux",
  linuxmint: "Linux Mint",
  manjaro: "Manjaro",
  nixos: "NixOS",
  "opensuse-leap": "openSUSE Leap",
  "opensuse-tumbleweed": "openSUSE Tumbleweed",
  pop: "Pop!_OS",
  sles: "SUSE Linux Enterprise",
  tuxedo: "TUXEDO OS",
  void: "Void Linux",
};
export const platformName = (platform: string): string => platformNames[platform] ?? (platform || "unknown");

export const hostStatus = (status: string): Html =>
  html`<span class="badge ${status === "online" ? "good" : "off"}">${status}</span>`;

/** A readable size in GiB or MiB. */
export function size(bytes: number): string {
  if (bytes <= 0) return "";
  const gib = bytes / 2 ** 30;
  return gib >= 1 ? `${gib.toFixed(gib < 10 ? 1 : 0)} GiB` : `${Math.round(bytes / 2 ** 20)} MiB`;
}

export const NO_VULNERABILITY_DATA =
  "Vulnerability data was never imported, so nothing is known about vulnerabilities.";

export const PASSWORD_RULE = "12 to 48 characters, with a digit and a symbol";
