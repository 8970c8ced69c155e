// What the command line offers, seen from its manifest: every change shows in the committed snapshot.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { allEndpoints } from "../../src/api/all.ts";
import type { AnyEndpoint } from "../../src/api/endpoint.ts";
import { sourceCommands } from "../../src/cli/source-config.ts";
import { build } from "../e2e/support/svc.ts";
import { commandsOf, root } from "../support/cli.ts";

type Config = Awaited<ReturnType<typeof commandsOf>>;
let config: Config;
let endpoints: Map<string, readonly AnyEndpoint[]>;

beforeAll(async () => {
  config = await commandsOf(true);
  const classes = await sourceCommands(root, (file) => import(/* @vite-ignore */ file));
  endpoints = new Map(
    Object.entries(classes).map(([id, one]) => [id, (one as { endpoints?: readonly AnyEndpoint[] }).endpoints ?? []]),
  );
});

const changing = (id: string) => (endpoints.get(id) ?? []).some(({ method }) => method !== "GET");

describe("the commands", () => {
  it("are these, with these flags", async () => {
    const surface = config.commands
      .map(({ id, args, flags, hidden }) => {
        const names = Object.values(flags).map(({ name, char }) => (char ? `-${char}, --${name}` : `--${name}`));
        const given = Object.values(args).map(({ name, required }) =>
          required ? name.toUpperCase() : `[${name.toUpperCase()}]`,
        );
        return [
          `${[id.replaceAll(":", " "), ...given].join(" ")}${hidden ? " (hidden)" : ""}`,
          ...names.sort().map((name) => `  ${name}`),
        ].join("\n");
      })
      .sort()
      .join("\n");
    await expect(`${surface}\n`).toMatchFileSnapshot("surface.txt");
  });

  it("cover every endpoint", () => {
    const covered = new Set([...endpoints.values()].flat());
    expect(allEndpoints.filter(({ endpoint }) => !covered.has(endpoint)).map(({ name }) => name)).toEqual([]);
  });

  it("each have a summary and an example", () => {
    const bare = config.commands.filter(({ summary, examples }) => !summary || !examples || examples.length === 0);
    expect(bare.map(({ id }) => id)).toEqual([]);
  });

  it("take --dry-run where they change something", () => {
    // Signing in changes nothing that could be rehearsed, and what is asked by a POST changes nothing at all.
    const asks = ["login", "translate"];
    const without = config.commands.filter(({ id, flags }) => changing(id) && !asks.includes(id) && !flags["dry-run"]);
    expect(without.map(({ id }) => id)).toEqual([]);
  });

  it("take -o on every list and get", () => {
    const reading = config.commands.filter(({ id }) => /(^|:)(list|get|show|summary|count)$/.test(id));
    expect(reading.length).toBeGreaterThan(10);
    expect(reading.filter(({ flags }) => !flags.output || !flags.fields).map(({ id }) => id)).toEqual([]);
  });

  it("take no secret as the value of a flag", () => {
    const secret = /password|secret|token/;
    const found = config.commands.flatMap(({ id, flags }) =>
      Object.values(flags)
        .filter(({ name, type }) => type === "option" && secret.test(name) && !/-(file|path)$/.test(name))
        .map(({ name }) => `${id} --${name}`),
    );
    expect(found).toEqual([]);
  });

  it("have a topic text for each topic", () => {
    const bare = config.topics.filter(
      ({ name, description }) => !description && config.commands.some(({ id }) => id.startsWith(`${name}:`)),
    );
    expect(bare.map(({ name }) => name)).toEqual([]);
  });

  it("stand in the manifest that the build makes as they are", async () => {
    await build();
    const { commands } = JSON.parse(await readFile(join(root, "oclif.manifest.json"), "utf8"));
    expect(Object.keys(commands).sort()).toEqual(config.commands.map(({ id }) => id).sort());
    for (const { id, flags } of config.commands) {
      expect(Object.keys(commands[id].flags).sort(), id).toEqual(Object.keys(flags).sort());
    }
  });
});
