// The server's database or disk space becomes unavailable and available again. The long forms are soak tests.
import { beforeAll, expect, it } from "vitest";
import { diskFull } from "../soak/disk-full.ts";
import { postgresFreezes } from "../soak/postgres-freeze.ts";
import { postgresRestarts } from "../soak/postgres-restart.ts";
import { amount } from "../support/engines.ts";
import { build } from "./support/svc.ts";

beforeAll(build);

it("reports clearly that Postgres is unreachable, continues afterwards, and loses nothing", async () => {
  const summary = await postgresRestarts({ cycles: 1, hosts: 30, scale: 0.1 });
  expect(summary).toContain("0 lost, 0 doubled");
});

it.runIf(process.platform === "linux")("replies within seconds while Postgres is frozen, and recovers", async () => {
  // Without the watchdog a reply takes 35 s. The soak measures the time on a quiet machine.
  expect(await postgresFreezes({ cycles: amount(1, 2), patience: 6 })).toContain("0 lost");
});

it.runIf(process.platform === "linux")(
  "allows reads and refuses writes while the disk is full, and recovers automatically",
  async () => {
    const summary = await diskFull({ cycles: 1, hosts: 10 });
    expect(summary).toContain("0 lost, 0 doubled, also after kill -9");
  },
  600_000,
);
