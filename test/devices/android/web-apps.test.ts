// Android apps that open a website, which the vendor makes.
import { expect, it } from "vitest";
import { startAndroid, turnAndroidOn } from "../../support/android.ts";
import { startApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { iconForm, png } from "../../support/icons.ts";
import { makeTeam, makeUser } from "../../support/make.ts";

const fields = { title: " Intranet ", url: "https://intranet.example.com/start?a=b" };
const reasonOf = async (reply: Response) => {
  const { errors } = (await reply.json()) as { errors: { name: string; reason: string }[] };
  return [reply.status, errors[0]!.name, errors[0]!.reason] as const;
};

it.each(bothEngines)("web apps are made by the vendor, and named by their id, on %s", async (engine) => {
  const service = await startAndroid();
  const t = await startApp({ engine, settings: service.settings });
  service.now = () => new Date(t.clock.now());
  const add = (given: object = {}, icon: Buffer<ArrayBuffer> | null = png(512)) =>
    t.post("/software/web_apps", iconForm(icon, { ...fields, ...given }));
  expect((await add()).status).toBe(404);
  await turnAndroidOn(t, service);
  const made = await add();
  expect([made.status, await made.json()]).toEqual([200, { app_store_id: "com.google.enterprise.webapp.x1" }]);
  expect(service.webApps).toEqual([
    {
      title: "Intranet",
      startUrl: fields.url,
      displayMode: "MINIMAL_UI",
      icons: [{ imageData: png(512).toString("base64url") }],
    },
  ]);
  expect(await (await add({}, null)).json()).toEqual({ app_store_id: "com.google.enterprise.webapp.x2" });
  expect(service.webApps[1]).toMatchObject({ icons: [] });

  expect(await reasonOf(await add({}, png(511)))).toEqual([
    422,
    "icon",
    "must have at least 512 pixels on each side, not 511",
  ]);
  expect((await reasonOf(await add({}, png(600, 512))))[2]).toBe("must be square: it has 600 x 512 pixels");
  expect((await reasonOf(await add({}, Buffer.from("no image") as Buffer<ArrayBuffer>)))[2]).toBe(
    "must be a PNG image",
  );
  expect((await reasonOf(await add({ title: " " }))).slice(0, 2)).toEqual([400, "title"]);
  for (const url of ["javascript:alert(1)", "intranet", "https://u:p@intranet.example.com"])
    expect((await reasonOf(await add({ url }))).slice(0, 2)).toEqual([422, "url"]);
  expect(await reasonOf(await add({ url: "https://refused.example.com" }))).toEqual([
    422,
    "url",
    expect.stringContaining("Invalid start URL"),
  ]);
  service.fault = ({ url }) => (url.pathname.endsWith("/webApps") ? { status: 500, body: "" } : null);
  expect((await add()).status).toBe(502);
  expect(service.webApps.length).toBe(2);
  const { id } = await makeTeam(t);
  const maintainer = await makeUser(t, { teams: [{ id, role: "maintainer" }] });
  expect((await maintainer.post("/software/web_apps", iconForm(png(512), fields))).status).toBe(403);
});
