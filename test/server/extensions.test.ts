// Plug-in points: declared where they are asked for, implemented by several.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { extensions } from "../../src/server/extensions.ts";
import { Extensions, extensionPoint, implementedBy } from "../../src/server/platform/core/extensions.ts";

const server = fileURLToPath(new URL("../../src/server", import.meta.url));
const sources = readdirSync(server, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ name, text: readFileSync(join(server, name), "utf8") }));

describe("plug-in points", () => {
  const declared = sources.flatMap(({ text }) =>
    [...text.matchAll(/= extensionPoint<\w+>\(\s*"([^"]+)",?\s*\)/g)].map(([, name]) => name!),
  );

  it("each have several implementers: what one feature does is a plain call", () => {
    expect(declared.length).toBeGreaterThan(10);
    const counts = new Map(extensions.lists.map(({ point, all }) => [point.name, all.length]));
    expect([...counts.keys()].sort()).toEqual([...declared].sort());
    expect([...counts].filter(([, count]) => count < 2)).toEqual([]);
  });

  it("are values, not members of an open type", () => {
    expect(
      sources.filter(({ text }) => /declare module "[^"]*extensions\.ts"/.test(text)).map(({ name }) => name),
    ).toEqual([]);
  });

  it("return their implementers in order, and those that have names by them", () => {
    interface Animal {
      readonly name: string;
      readonly legs: number;
    }
    const animals = extensionPoint<Animal>("animals");
    const plants = extensionPoint<Animal>("plants");
    const [dog, hen] = [
      { name: "dog", legs: 4 },
      { name: "hen", legs: 2 },
    ];
    const zoo = new Extensions([implementedBy(animals, dog, hen)]);
    expect(zoo.of(animals)).toEqual([dog, hen]);
    expect([zoo.named(animals, "hen"), zoo.named(animals, "constructor")]).toEqual([hen, undefined]);
    expect(() => zoo.of(plants)).toThrow("plants");
  });
});
