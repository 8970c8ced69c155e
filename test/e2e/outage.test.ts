// What the server rests on goes away and comes back: its database, the room on its disk. The long forms are soak tests.
import { beforeAll, expect, it } from "vitest";
import { diskFull } from "../soak/disk-full.ts";
import { postgresRestarts } from "../soak/postgres-restart.ts";
import { build } from "./support/svc.ts";

beforeAll(build, 180_000);

it("says clearly that Postgres is away, goes on after it, and loses nothing", async () => {
  const summary = await postgresRestarts({ cycles: 1, hosts: 30, scale: 0.1 });
  expect(summary).toContain("0 lost, 0 doubled");
});

it.runIf(process.platform === "linux")(
  "reads and refuses to write while the disk is full, and recovers by itself",
  async () => {
    const summary = await diskFull({ cycles: 1, hosts: 10 });
    expect(summary).toContain("0 lost, 0 doubled, also after kill -9");
  },
  600_000,
);
