// Single sign-on on the command line: the browser signs in, and the command line gets its own session.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { newHome, type RunOptions, runCli, sendInto } from "../support/cli.ts";
import { allow, movesTo, newBrowser } from "../support/cli-browser.ts";
import { begin, deliver, makeSigningKey, type SigningKey, signedAssertion, turnOnSso } from "../support/idp.ts";

let key: SigningKey;
beforeAll(async () => {
  key = await makeSigningKey();
});

const EMAIL = "ada.sso@example.com";

async function withSso(): Promise<TestApp> {
  const t = await startApp();
  await turnOnSso(t, key);
  const res = await t.post("/users/admin", { name: "Ada", email: EMAIL, sso_enabled: true, global_role: "observer" });
  expect(res.status).toBe(200);
  return t;
}

const run = (t: TestApp, argv: string[], options: RunOptions = {}) =>
  runCli([...argv, "--server-url", "https://svc.example.com"], { send: sendInto(t), ...options });

describe("svc login --sso", () => {
  it("signs in through the identity provider and saves its own token", async () => {
    const t = await withSso();
    const home = await newHome();
    const visited: string[] = [];
    const browse = async (url: string) => {
      const browser = newBrowser(t);
      const { pathname, search } = new URL(url);
      const first = await browser.get(`${pathname}${search}`);
      const idp = movesTo(await first.text())!;
      visited.push(new URL(idp).origin);
      const { inflateRawSync } = await import("node:zlib");
      const request = inflateRawSync(Buffer.from(new URL(idp).searchParams.get("SAMLRequest")!, "base64")).toString();
      const requestId = /ID="([^"]+)"/.exec(request)![1]!;
      const xml = signedAssertion({ now: t.clock.now(), requestId }, key);
      const cookie = [...browser.cookies].map(([name, one]) => `${name}=${one}`).join("; ");
      const back = await deliver(t, xml, cookie);
      browser.keep(back);
      const page = movesTo(await back.text())!;
      visited.push(page.split("?")[0]!);
      const loopback = (await allow(browser, `https://svc.example.com${page}`))!;
      visited.push(new URL(loopback).hostname);
      const end = await fetch(loopback);
      expect(end.status).toBe(200);
      expect(end.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(await end.text()).toContain("signed in");
    };
    const result = await run(t, ["login", "--sso", "--context", "work"], { browse, home });
    expect(result.stderr).toContain(`signed in to https://svc.example.com as ${EMAIL}`);
    expect(result.exitCode).toBe(0);
    expect(visited).toEqual(["https://idp.example.com", "/cli-login", "127.0.0.1"]);
    const whoami = await runCli(["whoami", "--json"], { send: sendInto(t), home });
    expect(whoami.exitCode, whoami.stderr).toBe(0);
    expect(whoami.stdout).toContain(EMAIL);
    // The token is in no output.
    const [row] = await t.store.oneTimeTokens.list();
    expect(row).toBeUndefined();
    expect(await t.store.sessions.count()).toBe(3);
  });

  it("works for a user who is signed in with a password in the browser", async () => {
    const t = await startApp();
    const browse = async (url: string) => {
      const browser = newBrowser(t);
      const { pathname, search } = new URL(url);
      const first = await browser.get(`${pathname}${search}`);
      expect(first.status).toBe(303);
      expect(first.headers.get("location")).toMatch(/^\/login\?next=%2Fcli-login/);
      browser.cookies.set("__Host-svc_session", t.token);
      await fetch((await allow(browser, url))!);
    };
    const result = await run(t, ["login", "--sso"], { browse });
    expect(result.exitCode, result.stderr).toBe(0);
    expect(result.stderr).toContain("as ada@example.com");
  });

  it("prints the address, and opens no browser if told not to", async () => {
    const t = await startApp();
    let opened = 0;
    let shown: (url: string) => void = () => {};
    const url = new Promise<string>((resolve) => {
      shown = resolve;
    });
    const running = run(t, ["login", "--sso", "--no-browser"], {
      browse: async () => {
        opened++;
      },
      onErr: (text) => {
        const found = /https:\S+\/cli-login\?\S+/.exec(text);
        if (found) shown(found[0]);
      },
    });
    const browser = newBrowser(t);
    browser.cookies.set("__Host-svc_session", t.token);
    await fetch((await allow(browser, await url))!);
    expect((await running).exitCode).toBe(0);
    expect(opened).toBe(0);
  });

  it("accepts no code from a page that does not know its state", async () => {
    const t = await startApp();
    const statuses: number[] = [];
    const browse = async (url: string) => {
      const browser = newBrowser(t);
      browser.cookies.set("__Host-svc_session", t.token);
      const right = new URL((await allow(browser, url))!);
      const tries = [
        `${right.origin}/`,
        `${right.origin}/?code=${"a".repeat(43)}`,
        `${right.origin}/?code=${"a".repeat(43)}&state=${"b".repeat(32)}`,
        `${right.origin}/other${right.search}`,
        `${right.origin}/?state=${right.searchParams.get("state")}&code=%3Cscript%3E`,
      ];
      for (const one of tries) statuses.push((await fetch(one)).status);
      statuses.push((await fetch(right, { method: "POST" })).status);
      statuses.push((await fetch(right)).status);
    };
    const result = await run(t, ["login", "--sso"], { browse });
    expect(result.exitCode, result.stderr).toBe(0);
    expect(statuses).toEqual([404, 404, 404, 404, 404, 404, 200]);
  });

  it("ends immediately if the user cancels in the browser, but not for a page that does not know its state", async () => {
    const t = await startApp();
    const browse = async (url: string) => {
      const browser = newBrowser(t);
      browser.cookies.set("__Host-svc_session", t.token);
      const { pathname, search } = new URL(url);
      const page = await (await browser.get(`${pathname}${search}`)).text();
      const cancel = new URL(/href="([^"]*)">Cancel</.exec(page)![1]!.replaceAll("&amp;", "&"));
      expect(cancel.hostname).toBe("127.0.0.1");
      expect((await fetch(`${cancel.origin}/?error=access_denied&state=${"b".repeat(32)}`)).status).toBe(404);
      expect(await (await fetch(cancel)).text()).toContain("was not signed in");
    };
    const result = await run(t, ["login", "--sso"], { browse });
    expect(result.exitCode).toBe(4);
    expect(result.stderr).toContain("cancelled");
  });

  it("reports if the server refuses the code", async () => {
    const t = await startApp();
    const browse = async (url: string) => {
      const { searchParams } = new URL(url);
      const to = new URLSearchParams({ code: "a".repeat(43), state: searchParams.get("state")! });
      await fetch(`http://127.0.0.1:${searchParams.get("port")}/?${to}`);
    };
    const result = await run(t, ["login", "--sso"], { browse });
    expect(result.exitCode).toBe(4);
  });

  it("cannot be combined with another way of signing in", async () => {
    const t = await startApp();
    for (const flags of [["--email", "a@b"], ["--token-stdin"], ["--mfa-token-stdin"], ["--password-stdin"]])
      expect((await run(t, ["login", "--sso", ...flags])).exitCode).toBe(2);
    expect((await run(t, ["login", "--no-browser"])).exitCode).toBe(2);
  });
});

describe("svc sso", () => {
  it("shows whether it is turned on", async () => {
    const t = await withSso();
    const result = await run(t, ["sso", "status", "--json"]);
    expect(JSON.parse(result.stdout)).toEqual({ idp_name: "Test IdP", idp_image_url: "", sso_enabled: true });
  });

  it("downloads the metadata for the identity provider", async () => {
    const t = await withSso();
    expect((await run(t, ["sso", "metadata"])).stdout).toMatch(/^<\?xml.*<\/md:EntityDescriptor>\n$/s);
    const file = join(await newHome(), "sp.xml");
    const result = await run(t, ["sso", "metadata", "-o", file]);
    expect(result.stderr).toBe(`wrote ${file}\n`);
    const off = await startApp();
    expect((await run(off, ["sso", "metadata"])).exitCode).toBe(3);
  });

  it("starts a sign-in, or reports why it cannot", async () => {
    const t = await withSso();
    const result = await run(t, ["sso", "start", "--json"]);
    expect(JSON.parse(result.stdout).url).toMatch(/^https:\/\/idp\.example\.com\/sso\?SAMLRequest=/);
    expect((await run(t, ["sso", "start", "--relay-url", "https://evil.example"])).exitCode).toBe(1);
    const count = await t.store.ssoSessions.count();
    expect((await run(t, ["sso", "start", "--dry-run"])).stdout).toContain("would start a single sign-on");
    expect(await t.store.ssoSessions.count()).toBe(count);
  });

  it("sends a response, and leaves no session behind", async () => {
    const t = await withSso();
    const home = await newHome();
    const [response, cookieFile] = [join(home, "response.txt"), join(home, "cookie.txt")];
    const { cookie, requestId } = await begin(t);
    await writeFile(cookieFile, `${cookie}\n`);
    const write = (audience: object) =>
      writeFile(
        response,
        Buffer.from(signedAssertion({ now: t.clock.now(), requestId }, key, audience)).toString("base64"),
      );
    await write({});
    const before = await t.store.sessions.count();
    const argv = ["sso", "callback", "--response-file", response, "--cookie-file", cookieFile];
    const result = await run(t, [...argv, "--json"]);
    expect(result.exitCode, result.stderr).toBe(0);
    expect(JSON.parse(result.stdout)).toEqual({ accepted: true });
    expect(await t.store.sessions.count()).toBe(before);
    const again = await run(t, argv);
    expect(again.exitCode).toBe(4);
    expect(again.stderr).toContain("refuses the response");
    expect((await run(t, [...argv, "--dry-run"])).exitCode).toBe(0);
  });
});
