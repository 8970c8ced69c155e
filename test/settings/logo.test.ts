// The organization's logo, kept by the server.
import { expect, it } from "vitest";
import { startApp } from "../support/app.ts";
import { logoForm, PNG } from "../support/xar.ts";

const SETTINGS = { server_settings: { server_url: "https://svc.example.com" } };
const orgInfo = async (t: Awaited<ReturnType<typeof startApp>>) =>
  ((await (await t.get("/config")).json()) as { org_info: Record<string, string> }).org_info;

it("is shown on the sign-in page, to everybody, and named in the settings", async () => {
  const t = await startApp();
  await t.patch("/config", SETTINGS);
  expect((await t.as(null).get("/logo")).status).toBe(404);
  expect((await t.request("PUT", "/logo", logoForm(PNG))).status).toBe(204);

  const info = await orgInfo(t);
  expect(info.org_logo_url).toMatch(
    /^https:\/\/svc\.example\.com\/api\/latest\/svc\/logo\?mode=dark&version=[0-9a-f]{16}$/,
  );
  expect(info.org_logo_url_light_background).toContain("mode=light");
  const path = info.org_logo_url_light_background!.slice("https://svc.example.com".length);
  const image = await t.raw(path);
  expect(image.headers.get("content-type")).toBe("image/png");
  expect(image.headers.get("x-content-type-options")).toBe("nosniff");
  expect(Buffer.from(await image.arrayBuffer())).toEqual(PNG);
  expect(await (await t.raw("/login")).text()).toContain(`<img src="${path.replaceAll("&", "&amp;")}"`);
});

it("may differ between light and dark backgrounds", async () => {
  const t = await startApp();
  const jpeg = Buffer.from("ffd8ffe000104a46494600010100", "hex");
  await t.request("PUT", "/logo?mode=dark", logoForm(jpeg));
  expect((await t.get("/logo?mode=dark")).headers.get("content-type")).toBe("image/jpeg");
  expect((await t.get("/logo?mode=light")).status).toBe(404);
  expect((await orgInfo(t)).org_logo_url_light_background).toBe("");

  await t.request("PUT", "/logo?mode=light", logoForm(PNG));
  expect((await t.delete("/logo?mode=dark")).status).toBe(204);
  expect((await t.get("/logo?mode=dark")).status).toBe(404);
  expect((await t.get("/logo?mode=light")).status).toBe(200);
  expect(await orgInfo(t)).toMatchObject({
    org_logo_url: "",
    org_logo_url_light_background: expect.stringMatching(/./),
  });
  expect((await t.delete("/logo")).status).toBe(204);
  expect((await orgInfo(t)).org_logo_url_light_background).toBe("");
});

it.each([
  ["an SVG image", '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ["an empty file", ""],
  ["the start of a PNG image", "\x89PN"],
])("refuses %s, and keeps the one it has", async (_what, content) => {
  const t = await startApp();
  await t.request("PUT", "/logo", logoForm(PNG));
  const before = await orgInfo(t);
  const res = await t.request("PUT", "/logo", logoForm(content));
  expect(res.status).toBe(422);
  expect(await res.json()).toMatchObject({ errors: [{ name: "logo" }] });
  expect(await orgInfo(t)).toEqual(before);
  expect((await t.get("/logo")).status).toBe(200);
});
