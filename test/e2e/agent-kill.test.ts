// A short form of `npm run test:soak -- agent-kill`.
import { beforeAll, expect, it } from "vitest";
import { killAgents } from "../soak/agent-kill.ts";
import { amount } from "../support/engines.ts";
import { build } from "./support/svc.ts";

beforeAll(build);

it("runs no script and no install twice and loses no result when the agent is killed", async () => {
  const counts = await killAgents(amount(6, 30));
  expect(counts).toMatchObject({ ranTwice: 0, lost: 0 });
  expect(counts.scripts).toBeGreaterThan(4);
  expect(counts.installs).toBeGreaterThan(0);
}, 600_000);
