import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { geoDatabase } from "../../src/server/hosts/hosts/geo.ts";
import { withRunning } from "../../src/server/platform/core/running.ts";
import { BadSetting } from "../../src/server/platform/core/security/tls.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { makeHost } from "../support/make.ts";
import { mmdb } from "../support/mmdb.ts";

const berlin = {
  country: { iso_code: "DE" },
  city: { names: { en: "Berlin" } },
  location: { latitude: 52.5, longitude: 13.4 },
};
const oslo = {
  country: { iso_code: "NO" },
  city: { names: { en: "Oslo" } },
  location: { latitude: 59.9, longitude: 10.7 },
};

describe("geolocation of hosts", () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "svc-geo-"));
    return () => rm(dir, { recursive: true, force: true });
  });
  let files = 0;
  const fileWith = async (bytes: Buffer | string) => {
    const file = join(dir, `geo-${++files}.mmdb`);
    await writeFile(file, bytes);
    return file;
  };
  const shown = async (t: TestApp, publicIp: string) => {
    const { id } = await makeHost(t, { public_ip: publicIp });
    return ((await (await t.get(`/hosts/${id}`)).json()) as { host: { geolocation?: object } }).host.geolocation;
  };

  it.each([4, 6] as const)(
    "contains country, city and coordinates of a public address (tree of IPv%i)",
    async (version) => {
      const file = await fileWith(
        mmdb({ "203.0.113.0/24": berlin, "198.51.100.7/32": { registered_country: { iso_code: "FR" } } }, { version }),
      );
      const t = await startApp({ settings: { geoip_database: file } });
      expect(await shown(t, "203.0.113.77")).toEqual({
        country_iso: "DE",
        city_name: "Berlin",
        geometry: { type: "Point", coordinates: [13.4, 52.5] },
      });
      expect(await shown(t, "198.51.100.7")).toEqual({ country_iso: "FR", city_name: "" });
      for (const unknown of ["198.51.100.8", "10.0.0.1", "", "2001:db8::1", "cb00:714d::1"])
        expect(await shown(t, unknown), unknown).toBeUndefined();
    },
  );

  it("is missing without a database, in lists, or with another kind of database", async () => {
    const bare = await startApp();
    expect(await shown(bare, "203.0.113.77")).toBeUndefined();
    const asn = await fileWith(
      mmdb({ "203.0.113.0/24": { autonomous_system_organization: "Example" } }, { type: "ASN" }),
    );
    const t = await startApp({ settings: { geoip_database: asn } });
    expect(await shown(t, "203.0.113.77")).toBeUndefined();
    const { hosts } = (await (await t.get("/hosts")).json()) as { hosts: object[] };
    expect(hosts[0]).not.toHaveProperty("geolocation");
  });

  it("prevents the start if the file is missing or damaged, with its name", async () => {
    const { services } = await startApp();
    const whole = mmdb({ "203.0.113.0/24": berlin });
    for (const file of [
      join(dir, "missing.mmdb"),
      await fileWith(""),
      await fileWith("not a database"),
      await fileWith(whole.subarray(0, whole.length - 60)),
      dir,
    ]) {
      const other = withRunning({ ...services, settings: { ...services.settings, geoip_database: file } });
      const opened = other.running.start(other, geoDatabase);
      await expect(opened, file).rejects.toThrow(BadSetting);
      await expect(opened).rejects.toThrow(`geoip_database: ${file} cannot be read as a MaxMind database`);
    }
  });

  it("uses a newer file without a restart, and keeps the old one if the newer is damaged", async () => {
    const file = await fileWith(mmdb({ "203.0.113.0/24": berlin }));
    const t = await startApp({ settings: { geoip_database: file } });
    const city = async () => ((await shown(t, "203.0.113.1")) as { city_name?: string } | undefined)?.city_name;
    expect(await city()).toBe("Berlin");
    await writeFile(file, mmdb({ "203.0.113.0/24": oslo, "203.0.114.0/24": oslo }));
    expect(await city()).toBe("Berlin");
    t.clock.advance(60_000);
    await expect.poll(city).toBe("Oslo");
    await writeFile(file, "broken");
    for (let i = 0; i < 3; i++) {
      t.clock.advance(60_000);
      expect(await city()).toBe("Oslo");
    }
  });
});
