import type { Context } from "../core/context.ts";
import { serverUrl } from "../core/links.ts";
import { html } from "./html.ts";
import type { Shown } from "./page.ts";

/** While there is no user: how to make the first. No form does it, for whoever comes first would own the server. */
export async function setupHelp(ctx: Pick<Context, "settings" | "config">): Promise<Shown> {
  const server = await serverUrl(ctx);
  return {
    title: "Set up",
    shape: "narrow",
    body: html`<div class="card"><h1>This server is not set up</h1>
<p>It has no user yet. On the machine that it runs on, make the first administrator:</p>
<p class="token"><code>svc setup${server !== "" && ` --server-url ${server}`} --email you@example.com</code></p>
<p>From another machine, add <code>--setup-token-file</code> with the setup token that <code>svc serve</code> printed when it started. Then open this page again.</p></div>`,
  };
}
