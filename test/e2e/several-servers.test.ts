// Three servers behind a round-robin proxy produce the figures of one server. The long form is a soak test.
import { beforeAll, expect, it } from "vitest";
import { severalServers } from "../soak/several-servers.ts";
import { freshDatabase } from "../support/postgres.ts";
import { build, watch } from "./support/svc.ts";

beforeAll(build);

async function database() {
  const { url, drop } = await freshDatabase();
  return { url, end: drop };
}

it("produce the same figures as one, whichever of them receives an agent's next request", async () => {
  const summary = await severalServers({ hosts: 4, rounds: 1, database, onSpawn: watch });
  expect(summary).toContain("0 differences");
}, 600_000);
