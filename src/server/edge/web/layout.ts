// The layout of every page.
import type { Context } from "../../platform/core/context.ts";
import { linkTo } from "../../platform/core/http/links.ts";
import { LOGO_PATH } from "../../settings/logo/service.ts";
import { styleAsset } from "./assets.ts";
import { type Html, html } from "./html.ts";

interface Frame {
  readonly title: string;
  readonly body: Html;
  /** `narrow`: a single form, as for signing in. */
  readonly shape?: "wide" | "narrow";
  /** The path of the console section to which the page belongs. */
  readonly part?: string;
  /** Data for the viewer's menu, with the hidden field of its form. Without it no menu is shown. */
  readonly menu?: { readonly name: string; readonly csrf: Html; readonly parts: readonly Part[] };
  /** The browser is forwarded to this URL without a script. */
  readonly moveTo?: string;
}

export interface Part {
  readonly path: string;
  readonly name: string;
}

interface Organization {
  readonly name: string;
  readonly logo: string;
}

export async function organization(ctx: Pick<Context, "config" | "settings">): Promise<Organization> {
  const { org_info } = await ctx.config.current();
  const ownUrl = await linkTo(ctx, LOGO_PATH);
  // Other schemes are refused when the logo is set, and browsers would not load them.
  const [logo = ""] = [org_info.org_logo_url_light_background, org_info.org_logo_url].flatMap((url) =>
    url.startsWith(ownUrl) ? [LOGO_PATH + url.slice(ownUrl.length)] : /^https:/i.test(url) ? [url] : [],
  );
  return { name: org_info.org_name || "svc", logo };
}

export function layout(frame: Frame, org: Organization): string {
  const { title, body, shape = "wide", menu, moveTo } = frame;
  const brand = html`<a class="brand" href="/">${org.logo !== "" && html`<img src="${org.logo}" alt="">`}<span>${org.name}</span></a>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${moveTo !== undefined && html`<meta http-equiv="refresh" content="0; url=${moveTo}">`}
<title>${title} - ${org.name}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${styleAsset.path}">
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
${shape === "wide" && header(brand, frame)}
<main id="main" tabindex="-1"${shape === "narrow" && html` class="narrow"`}>
${shape === "narrow" && brand}
${body}
</main>
${menu !== undefined && footer}
</body>
</html>
`.text;
}

function header(brand: Html, { menu, part }: Frame): Html {
  return html`<header class="top"><div>${brand}
${
  menu !== undefined &&
  html`<nav aria-label="Main"><ul>${menu.parts.map(
    ({ path, name }) => html`<li><a href="${path}"${path === part && html` aria-current="page"`}>${name}</a></li>`,
  )}</ul></nav>
<form class="who" method="post" action="/logout">${menu.csrf}<a href="/profile"${part === "/profile" && html` aria-current="page"`}><span class="hidden">My account: </span>${menu.name}</a>
<button class="plain little">Sign out</button></form>`
}
</div></header>`;
}

const footer = html`<footer><ul><li><a href="/api/docs">API reference</a></li><li><a href="/transparency">What hosts report</a></li></ul></footer>`;
