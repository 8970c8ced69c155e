// A browser without a screen: stores cookies, does not follow redirects, and posts the forms that it finds.
import { expect } from "vitest";
import type { TestApp } from "./app.ts";

export interface SeenPage {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The target of the redirect; empty without one. */
  readonly location: string;
}

export class WebVisitor {
  readonly cookies = new Map<string, string>();
  readonly #app: Pick<TestApp, "raw">;
  #formToken = "";

  constructor(app: Pick<TestApp, "raw">) {
    this.#app = app;
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<SeenPage> {
    return this.#send(path, { headers: { accept: "text/html", ...headers } });
  }

  /** Posts to the path with the token of the last form. */
  async post(
    path: string,
    fields: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<SeenPage> {
    return this.postRaw(path, { form_token: this.#formToken, ...fields }, headers);
  }

  async postRaw(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<SeenPage> {
    return this.#send(path, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "text/html", ...headers },
      body: new URLSearchParams(fields).toString(),
    });
  }

  async signIn(email: string, password: string): Promise<void> {
    await this.get("/login");
    const seen = await this.post("/login", { email, password });
    expect(seen.status, seen.text).toBe(200);
    expect([...this.cookies.keys()].join()).toContain("svc_session");
  }

  async #send(path: string, init: RequestInit & { headers: Record<string, string> }): Promise<SeenPage> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...(cookie === "" ? {} : { cookie }), ...init.headers };
    const response = await this.#app.raw(path, { ...init, headers });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const text = await response.text();
    this.#formToken = tokenOf(text) || this.#formToken;
    return {
      status: response.status,
      headers: response.headers,
      text,
      location: response.headers.get("location") ?? "",
    };
  }

  #keep(line: string): void {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
    if (/max-age=0/i.test(line)) this.cookies.delete(name!);
    else this.cookies.set(name!, value!);
  }
}

/** The token of a form, or of the console's session. */
export const tokenOf = (page: string): string =>
  (/name="form_token" value="([^"]+)"/.exec(page) ?? /"form_token":"([^"]+)"/.exec(page))?.[1] ?? "";
