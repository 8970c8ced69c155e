// The part of a host's own page that shows the progress of its setup, until it has ended.
import type { SetupItem } from "../../../api/setup-results.ts";
import { isPremium } from "../../core/context.ts";
import { hostSetup } from "../../setup-experience/view.ts";
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

/** Null: the host has no setup, or it has ended. Only looks: the host's agent begins what comes next. */
export async function setupCard({ ctx }: Visit, hostId: number): Promise<Html | null> {
  const host = isPremium(ctx) ? await ctx.store.hosts.get(hostId) : null;
  if (!host) return null;
  const { status, software, script } = await hostSetup(ctx, host);
  if (status !== "pending" && status !== "running") return null;
  const row = ({ display_name, status: state, error }: SetupItem, names: typeof states) =>
    html`<tr><th scope="row">${display_name}</th><td>${names[state]}${error !== null && html`<br><span class="quiet">${error}</span>`}</td></tr>`;
  return html`<section class="card" aria-labelledby="setup"><h2 id="setup">Setup</h2>
<p>Your device is being set up. It installs one thing at a time. Reload this page to see how far it is.</p>
<table class="loose"><caption class="hidden">Setup</caption><thead><tr><th scope="col">Name</th><th scope="col">State</th></tr></thead><tbody>
${software.map((item) => row(item, states))}${script !== null && row(script, scriptStates)}</tbody></table></section>`;
}
