import { expect, it } from "vitest";
import { locks } from "../../../src/server/edge/configuration/kinds.ts";
import { inLockOrder, lockOrder } from "../../../src/server/platform/store/locks.ts";

it("have one order, in which an apply takes each of them once", () => {
  expect(new Set(lockOrder).size).toBe(lockOrder.length);
  expect(inLockOrder(["queries", "users", "queries"])).toEqual(["users", "queries"]);
  expect(locks).toEqual(lockOrder);
});
