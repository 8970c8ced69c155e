// What each page of the console says about the documentation, the command line and the API.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allEndpoints } from "../../src/api/all.ts";
import { helpTexts } from "../../src/console/frame/help-texts.ts";
import { routes } from "../../src/console/routes.ts";

const manifest: { commands: Record<string, unknown> } = JSON.parse(readFileSync("oclif.manifest.json", "utf8"));

describe("the help of the console", () => {
  it("knows every route", () => {
    expect(Object.keys(helpTexts).sort()).toEqual(Object.keys(routes).sort());
  });

  it.each(Object.entries(helpTexts))("of %s names what exists", (_, { about, docs, command, operation, call }) => {
    expect(about).toMatch(/^[A-Z].*\.$/);
    const headings = readFileSync(docs.file, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("#"))
      .map((line) => line.replace(/^#+ /, ""));
    expect(headings).toContain(docs.section);
    expect(Object.keys(manifest.commands)).toContain(command.replaceAll(" ", ":"));
    const endpoint = allEndpoints.find(({ name }) => name === operation)?.endpoint;
    expect(`${endpoint?.method} ${endpoint?.path}`).toBe(call);
  });
});
