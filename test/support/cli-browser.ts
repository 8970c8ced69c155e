// The browser that `svc login --sso` opens, reduced to its needs: pages with one form or one redirect, and cookies.
import type { TestApp } from "./app.ts";

const value = (html: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1]?.replaceAll("&amp;", "&") ?? "";
export const movesTo = (html: string): string | null =>
  /http-equiv="refresh" content="0; url=([^"]*)"/.exec(html)?.[1]?.replaceAll("&amp;", "&") ?? null;

export interface Browser {
  /** Cookies by name. */
  readonly cookies: Map<string, string>;
  get(path: string): Promise<Response>;
  post(path: string, form: Record<string, string>): Promise<Response>;
  keep(response: Response): void;
}

export function newBrowser(t: Pick<TestApp, "raw">, host = "svc.example.com"): Browser {
  const cookies = new Map<string, string>();
  const keep = (response: Response) => {
    for (const set of response.headers.getSetCookie()) {
      const [pair = "", ...attributes] = set.split("; ");
      const at = pair.indexOf("=");
      if (attributes.includes("Max-Age=0")) cookies.delete(pair.slice(0, at));
      else cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
  };
  const send = async (path: string, init: RequestInit) => {
    const cookie = [...cookies].map(([name, one]) => `${name}=${one}`).join("; ");
    const headers = { ...(init.headers as Record<string, string>), ...(cookie === "" ? {} : { cookie }) };
    const response = await t.raw(`https://${host}${path}`, { ...init, headers });
    keep(response);
    return response;
  };
  return {
    cookies,
    keep,
    get: (path) => send(path, { headers: { "sec-fetch-site": "none" } }),
    post: (path, form) =>
      send(path, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
        body: String(new URLSearchParams(form)),
      }),
  };
}

/** Clicks the button of the page that asks; returns the address to which the browser is redirected. */
export async function allow(browser: Browser, url: string): Promise<string | null> {
  const { pathname, search } = new URL(url);
  const page = await (await browser.get(`${pathname}${search}`)).text();
  const form = Object.fromEntries(
    ["form_token", "port", "challenge", "state"].map((name) => [name, value(page, name)]),
  );
  const next = await browser.post(pathname, form);
  return movesTo(await next.text());
}

/** Opens the address of `svc login --sso` in a browser in which the app's admin is signed in. */
export async function signInByBrowser(t: Pick<TestApp, "raw" | "token">, url: string): Promise<void> {
  const browser = newBrowser(t);
  browser.cookies.set("__Host-svc_session", t.token);
  await fetch((await allow(browser, url))!);
}
