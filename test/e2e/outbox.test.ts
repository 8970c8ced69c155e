// The receiver of webhooks is unreachable while the server is killed twice. The long form is a soak test.
import { beforeAll, expect, it } from "vitest";
import { outboxOutage } from "../soak/outbox.ts";
import { amount, killedEngines } from "../support/engines.ts";
import { build } from "./support/svc.ts";

beforeAll(build);

it.each(killedEngines)(
  "delivers everything that was acknowledged, in order (%s)",
  async (engine) => {
    const summary = await outboxOutage({ engine, downMs: amount(3_000, 9_000), rate: 20 });
    expect(summary).toContain("0 lost");
    expect(summary).toMatch(/ 0 of \d+ deliveries out of order/);
  },
  600_000,
);
