// The part of the host page that shows whether its user may sign in to the organization's other services.
import type { HostAccess } from "../../../../../api/automations/conditional-access.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { type Html, html } from "../../html.ts";
import { facts, when } from "../../parts.ts";

const looks = { compliant: "good", noncompliant: "bad", unreported: "note" } as const;

/** Nothing for hosts that conditional access does not concern. */
export function accessCard(ctx: Context, { enabled, blocking_policies, directory }: HostAccess): Html | false {
  if (!enabled && directory === null) return false;
  const isBlocked = blocking_policies.length > 0;
  return html`<section class="card" aria-labelledby="access"><h2 id="access">Conditional access</h2>${facts([
    [
      "Sign-ins",
      enabled && html`<span class="badge ${isBlocked ? "bad" : "good"}">${isBlocked ? "blocked" : "allowed"}</span>`,
    ],
    ["Blocked by", blocking_policies.map(({ name }) => name).join(", ")],
    ["Device", directory && html`<span class="mono">${directory.device_id}</span>`],
    ["Account", directory?.user_principal_name],
    [
      "Directory",
      directory &&
        html`<span class="badge ${looks[directory.status]}">${directory.status}</span>${directory.pending && html` <span class="quiet">a report is due</span>`}${directory.last_error !== "" && html`<p class="small">${directory.last_error}</p>`}`,
    ],
    ["Reported", directory?.reported_at ? when(ctx, directory.reported_at) : null],
  ])}</section>`;
}
