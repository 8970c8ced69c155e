// The part of a host's own page that shows the progress of its setup, until it has ended.
import type { SetupItem } from "../../../../api/delivery/setup-results.ts";
import { hostSetup } from "../../../delivery/setup-experience/view.ts";
import { days, isoAt } from "../../../platform/core/clock.ts";
import { isPremium } from "../../../platform/core/context.ts";
import { type Html, html } from "../html.ts";
import type { Visit } from "../page.ts";

const states: Readonly<Record<SetupItem["status"], string>> = {
  pending: "waits",
  running: "is being installed",
  success: "is installed",
  failure: "could not be installed",
};
const scriptStates: typeof states = {
  ...states,
  running: "is running",
  success: "has run",
  failure: "has failed",
};

/** For how long a setup that failed is shown. */
const FAILURE_SHOWN = days(1);

/** Null: the host has no setup, or it has ended well, or long ago. Only looks: the host's agent begins what comes next. */
export async function setupCard({ ctx }: Visit, hostId: number): Promise<Html | null> {
  const host = isPremium(ctx) ? await ctx.store.hosts.get(hostId) : null;
  if (!host) return null;
  const { status, software, script, ended_at } = await hostSetup(ctx, host);
  const hasFailed = status === "failure" && ended_at !== null && ended_at > isoAt(ctx.clock.now() - FAILURE_SHOWN);
  if (status !== "pending" && status !== "running" && !hasFailed) return null;
  const row = ({ display_name, status: state, error }: SetupItem, names: typeof states) =>
    html`<tr><th scope="row">${display_name}</th><td>${names[state]}${error !== null && html`<br><span class="quiet">${error}</span>`}</td></tr>`;
  return html`<section class="card" aria-labelledby="setup"><h2 id="setup">Setup</h2>
<p>${hasFailed ? "The setup of your device has ended, but a part of it failed. Ask the people who manage the device for help." : "Your device is being set up. It installs one thing at a time. Reload this page to see how far it is."}</p>
<table class="loose"><caption class="hidden">Setup</caption><thead><tr><th scope="col">Name</th><th scope="col">State</th></tr></thead><tbody>
${software.map((item) => row(item, states))}${script !== null && row(script, scriptStates)}</tbody></table></section>`;
}
