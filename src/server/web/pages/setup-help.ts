import type { Context } from "../../core/context.ts";
import { serverUrl } from "../../core/http/links.ts";
import { html } from "../html.ts";
import type { Shown } from "../page.ts";

/**
 * Explains how to create the first user. There is no form for it, because anybody could then take over a new server.
 */
export async function setupHelp(ctx: Pick<Context, "settings" | "config">): Promise<Shown> {
  const server = await serverUrl(ctx);
  return {
    title: "Set up",
    shape: "narrow",
    body: html`<div class="card"><h1>This server is not set up</h1>
<p>It has no users yet. Create the first administrator, on the machine that the server runs on:</p>
<p class="token"><code>svc setup${server !== "" && ` --server-url ${server}`} --email you@example.com</code></p>
<p>From another machine, add <code>--setup-token-file</code> with the setup token that <code>svc serve</code> printed when it started. Then open this page again.</p></div>`,
  };
}
