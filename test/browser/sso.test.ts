// Single sign-on in a real browser, because the browser decides about cookies, forms of other sites and the content
// security policy.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inflateRawSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { findChromium, launch, type ServedApp, serve } from "../support/browser.ts";
import { runCli, sendInto } from "../support/cli.ts";
import {
  makeSigningKey,
  metadataOf,
  type SigningKey,
  SSO_URL,
  SSO_USER,
  signedAssertion,
  turnOnSso,
} from "../support/idp.ts";

const chromium = findChromium();

/** The identity provider's site: a button signs in any visitor, and posts the response to us. */
async function startIdp(key: SigningKey, t: TestApp, acs: string): Promise<Server> {
  const server = createServer((request, reply) => {
    const given = new URL(request.url!, "http://idp").searchParams.get("SAMLRequest");
    if (given === null) {
      reply.writeHead(404).end();
      return;
    }
    const asked = inflateRawSync(Buffer.from(given, "base64")).toString();
    const requestId = /ID="([^"]+)"/.exec(asked)![1]!;
    const content = { recipient: acs, destination: acs };
    const xml = signedAssertion({ now: t.clock.now(), requestId }, key, content);
    reply.setHeader("content-type", "text/html");
    reply.end(
      `<title>IdP</title><link rel="icon" href="data:,"><form method="post" action="${acs}"><input type="hidden" name="SAMLResponse" value="${Buffer.from(xml).toString("base64")}"><button>Sign in at the IdP</button></form>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

describe.skipIf(chromium === null)("single sign-on in Chromium", { timeout: 600_000 }, () => {
  let browser: Browser;
  let t: TestApp;
  let served: ServedApp;
  let idp: Server;
  let url: string;
  beforeAll(async () => {
    const key = await makeSigningKey();
    t = await startApp({ shared: true });
    served = await serve(t);
    // A site other than the identity provider's, and one from which browsers accept `Secure` cookies without TLS.
    url = served.url.replace("127.0.0.1", "localhost");
    idp = await startIdp(key, t, `${url}/api/v1/svc/sso/callback`);
    await t.patch("/config", { server_settings: { server_url: url } });
    const sso = `http://127.0.0.1:${(idp.address() as AddressInfo).port}/sso`;
    await turnOnSso(t, key, { metadata: metadataOf(key).replaceAll(SSO_URL, sso) });
    await t.post("/users/admin", { ...SSO_USER, sso_enabled: true, global_role: "observer" });
    browser = await launch(chromium!);
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    idp?.close();
    await served?.close();
    await t?.close();
  });

  it("signs in, and opens the requested page", async () => {
    const page = await (await browser.newContext()).newPage();
    const problems: string[] = [];
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    await page.goto(`${url}/hosts?query=mac`);
    expect(new URL(page.url()).pathname).toBe("/login");
    await page.getByRole("button", { name: "Sign in with Test IdP" }).click();
    await page.getByRole("button", { name: "Sign in at the IdP" }).click();
    await page.waitForURL(`${url}/hosts?query=mac`);
    const cookies = await page.context().cookies();
    expect(cookies.map(({ name }) => name).filter((name) => name.includes("SSO"))).toEqual([]);
    expect(cookies.find(({ name }) => name.endsWith("svc_session"))).toMatchObject({ httpOnly: true, sameSite: "Lax" });
    expect(problems).toEqual([]);
  });

  it("returns to the sign-in page with a reason if the response is refused", async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${url}/login`);
    await page.getByRole("button", { name: "Sign in with Test IdP" }).click();
    await page.getByRole("button", { name: "Sign in at the IdP" }).waitFor();
    t.clock.advance(301_000);
    await page.getByRole("button", { name: "Sign in at the IdP" }).click();
    await page.waitForURL(`${url}/login?status=error`);
    expect(await page.getByRole("alert").count()).toBe(1);
  });

  it("signs in the command line after a click", async () => {
    const page = await (await browser.newContext()).newPage();
    const result = await runCli(["login", "--sso", "--server-url", url], {
      send: sendInto(t),
      browse: async (address) => {
        await page.goto(address);
        await page.getByRole("button", { name: "Sign in at the IdP" }).click();
        await page.getByRole("button", { name: "Sign in svc on this computer" }).click();
        await page.getByRole("heading", { name: "Signed in" }).waitFor();
      },
    });
    expect(result.exitCode, result.stderr).toBe(0);
    expect(result.stderr).toContain(`as ${SSO_USER.email}`);
    // The command ends when it has the code: the browser may still be loading the listener's page.
    await page.waitForURL("http://127.0.0.1:*/**");
  });
});
