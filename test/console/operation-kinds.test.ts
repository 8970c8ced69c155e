// What is asked of hosts, as the console calls it.
import { describe, expect, it } from "vitest";
import { kindName, kindOptions } from "../../src/console/pages/changes/operation-kinds.ts";
import { extensions } from "../../src/server/extensions.ts";
import { operationKinds } from "../../src/server/hosts/operations/kind.ts";

describe("kinds of operations in the console", () => {
  const kinds = extensions.of(operationKinds).map(({ name }) => name);

  it("are kinds of the server, each in one filter", () => {
    const offered = kindOptions.flatMap(({ value }) => value.split(","));
    expect(offered.filter((kind) => !kinds.includes(kind))).toEqual([]);
    expect(new Set(offered).size).toBe(offered.length);
  });

  it("have a name without underscores, also those that the server sends by itself", () => {
    expect(kinds.map(kindName).filter((name) => name.includes("_"))).toEqual([]);
    expect(kindName("windows_wipe")).toBe("Wipe");
  });
});
