// Logos of the organization as files: they are uploaded with the configuration, and the server sets their address.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { gitops, writeAll } from "../support/gitops-cli.ts";
import { errorsOf, readGiven } from "../support/gitops-files.ts";
import { png } from "../support/icons.ts";

const file = (info: string) => `org_settings: {org_info: {${info}}}\ncontrols: {}\n`;

async function withFiles(t: TestApp, info: string, images: Record<string, Buffer>) {
  const dir = await writeAll(new Map([["default.yml", file(info)]]));
  for (const [name, content] of Object.entries(images)) await writeFile(join(dir, name), content);
  const main = ["-f", join(dir, "default.yml")];
  return {
    apply: (...more: string[]) => gitops(t, ["apply", ...main, "--yes", "--allow-delete", ...more]),
    plan: () => gitops(t, ["plan", ...main, "--exit-code"]),
  };
}

const infoOf = async (t: TestApp) =>
  ((await (await t.get("/config")).json()) as { org_info: Record<string, string> }).org_info;
const logoOf = async (t: TestApp, mode: string) => {
  const reply = await t.as(null).get(`/logo?mode=${mode}`);
  return reply.status === 200 ? Buffer.from(await reply.arrayBuffer()) : null;
};

describe.each(bothEngines)("logo files on %s", (engine) => {
  it("are applied, changed, exported and removed, and show no drift", async () => {
    const t = await startApp({ engine });
    const [dark, light, other] = [png(64), png(65), png(66)];
    const both = "org_logo_path_dark_mode: dark.png, org_logo_path_light_mode: light.png";
    const one = await withFiles(t, both, { "dark.png": dark, "light.png": light });
    const dry = await one.apply("--dry-run");
    expect(dry.exitCode, dry.stderr).toBe(0);
    expect(await t.store.logos.count()).toBe(0);
    const first = await one.apply();
    expect(first.exitCode, first.stderr).toBe(0);
    expect([await logoOf(t, "dark"), await logoOf(t, "light")]).toEqual([dark, light]);
    const before = await infoOf(t);
    expect(before.org_logo_url).toContain("/api/latest/svc/logo?mode=dark&version=");
    expect(before.org_logo_url_light_background).toContain("/api/latest/svc/logo?mode=light&version=");
    const same = await one.plan();
    expect(same.exitCode, same.stdout).toBe(0);

    const two = await withFiles(t, both, { "dark.png": other, "light.png": light });
    expect((await two.plan()).exitCode).not.toBe(0);
    const second = await two.apply();
    expect(second.exitCode, second.stderr).toBe(0);
    expect(await logoOf(t, "dark")).toEqual(other);
    const after = await infoOf(t);
    expect(after.org_logo_url).not.toBe(before.org_logo_url);
    expect(after.org_logo_url_light_background).toBe(before.org_logo_url_light_background);

    const out = await writeAll(new Map());
    expect((await gitops(t, ["export", "--dir", out, "--force"])).exitCode).toBe(0);
    const text = await readFile(join(out, "default.yml"), "utf8");
    expect(text).toContain("org_logo_path_dark_mode: lib/logo/dark.png");
    expect(text).not.toContain("org_logo_url");
    expect(await readFile(join(out, "lib/logo/dark.png"))).toEqual(other);
    const again = await gitops(t, ["plan", "-f", join(out, "default.yml"), "--exit-code"]);
    expect(again.exitCode, again.stdout).toBe(0);

    // A file of one mode, and an address of the other.
    const mixed = "org_logo_path_dark_mode: dark.png, org_logo_url_light_mode: 'https://cdn.example.com/l.png'";
    const three = await withFiles(t, mixed, { "dark.png": other });
    const third = await three.apply();
    expect(third.exitCode, third.stderr).toBe(0);
    expect(await infoOf(t)).toMatchObject({
      org_logo_url: after.org_logo_url,
      org_logo_url_light_background: "https://cdn.example.com/l.png",
    });
    expect(await logoOf(t, "light")).toBeNull();
    const none = await withFiles(t, "org_name: X", {});
    const last = await none.apply();
    expect(last.exitCode, last.stderr).toBe(0);
    expect([await t.store.logos.count(), (await infoOf(t)).org_logo_url]).toEqual([0, ""]);
    expect((await none.plan()).exitCode).toBe(0);
  });
});

describe("logo files are refused", () => {
  const errors = async (info: string, images: Record<string, Buffer> = {}) =>
    errorsOf((await readGiven({ "d.yml": file(info), ...images }, {}, ["d.yml"])).problems);

  it("beside the address of the same mode, if they are missing, or are no images", async () => {
    for (const url of ["org_logo_url", "org_logo_url_dark_mode"])
      expect(
        await errors(`org_logo_path_dark_mode: a.png, ${url}: 'https://x.example/a.png'`, { "a.png": png(10) }),
      ).toEqual([
        expect.stringContaining(
          `org_info.org_logo_path_dark_mode: cannot be given together with org_logo_url_dark_mode`,
        ),
      ]);
    expect(
      await errors("org_logo_path_dark_mode: a.png, org_logo_url_light_mode: 'https://x.example/a.png'", {
        "a.png": png(10),
      }),
    ).toEqual([]);
    expect(await errors("org_logo_path_light_mode: a.png")).toEqual([expect.stringContaining("does not exist")]);
    expect(await errors("org_logo_path_light_mode: a.svg", { "a.svg": Buffer.from("<svg/>") })).toEqual([
      expect.stringContaining("unsupported extension"),
    ]);
    expect(await errors("org_logo_path_light_mode: a.png", { "a.png": Buffer.from("<svg/>") })).toEqual([
      expect.stringContaining("must be a PNG, JPEG, GIF or WebP image"),
    ]);
    expect(
      await errors("org_logo_path_light_mode: a.png", { "a.png": Buffer.concat([png(10), Buffer.alloc(1_048_577)]) }),
    ).toEqual([expect.stringContaining("larger than 1048576 bytes")]);
  });
});
