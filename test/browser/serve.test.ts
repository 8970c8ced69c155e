// The binary as users run it, in a browser: over TLS, and over plain HTTP on this machine.
import { beforeAll, describe, expect, it } from "vitest";
import { build, newFolder, serve } from "../e2e/support/svc.ts";
import { findChromium, launch } from "../support/browser.ts";
import { isStyled } from "./page-checks.js";

const chromium = findChromium();

describe.skipIf(chromium === null)("svc serve before a browser", () => {
  beforeAll(build);

  it.each([
    { over: "TLS", args: ["--tls-self-signed"], name: "__Host-svc_session", secure: true },
    { over: "plain HTTP", args: [], name: "svc_session", secure: false },
  ])(
    "signs in over $over",
    async ({ args, name, secure }) => {
      const [server, browser] = [await serve({ dataDir: newFolder(), args }), await launch(chromium!)];
      try {
        const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
        const complaints: string[] = [];
        page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
        await page.goto(`${server.url}/hosts`);
        await page.getByLabel("Email").fill(server.email);
        await page.getByLabel("Password").fill(server.password);
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.waitForURL(`${server.url}/hosts`);
        await page.getByRole("status").getByText("0 hosts").waitFor();
        const cookies = (await page.context().cookies()).filter((cookie) => cookie.name.endsWith("svc_session"));
        expect(cookies).toMatchObject([{ name, secure, httpOnly: true, sameSite: "Lax", path: "/" }]);
        const reloaded = await page.reload();
        expect(reloaded!.status()).toBe(200);
        expect(await page.locator(".banner").evaluate(isStyled)).toBe(true);
        await page.getByRole("button", { name: "Sign out" }).click();
        await page.getByText("You are signed out.").waitFor();
        expect(complaints).toEqual([]);
      } finally {
        await browser.close();
        await server.stop();
      }
    },
    600_000,
  );
});
