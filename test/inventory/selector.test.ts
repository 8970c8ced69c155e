// Selector expressions: the hosts that they select, their errors, and the explanation of a host.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Host } from "../../src/api/hosts/host.ts";
import {
  columnOf,
  MAX_DEPTH,
  MAX_TERMS,
  parseSelector,
  SelectorError,
} from "../../src/server/inventory/host-list/selector/parse.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeScene, type Scene } from "../support/hosts.ts";
import { makeHost, makeTeam, makeUser } from "../support/make.ts";
import { reasonOf } from "../support/replies.ts";

describe("the grammar", () => {
  it("gives and precedence over or, applies not to the next part, and keeps each part's text", () => {
    const text = "a = 1 and not b or (c ~ 'x y' or d not in (1, \"2\"))";
    const tree = parseSelector(text);
    expect(tree).toMatchObject({
      kind: "or",
      parts: [
        {
          kind: "and",
          parts: [
            { kind: "test", operator: "=" },
            { kind: "not", part: { kind: "flag" } },
          ],
        },
        {
          kind: "or",
          parts: [
            { kind: "test", operator: "~", values: [{ text: "x y", quoted: true }] },
            { kind: "not", part: { kind: "test", operator: "in", values: [{ text: "1" }, { text: "2" }] } },
          ],
        },
      ],
    });
    const texts = tree.kind === "or" ? tree.parts.map(({ at, end }) => text.slice(at, end)) : [];
    expect(texts).toEqual(["a = 1 and not b", "(c ~ 'x y' or d not in (1, \"2\"))"]);
  });

  it("treats a backslash in quotes as an escape, and accepts words in any script", () => {
    const values = (text: string) => {
      const tree = parseSelector(text);
      return tree.kind === "test" ? tree.values.map((value) => value.text) : [];
    };
    expect(values('a = "say \\"hi\\" \\\\"')).toEqual(['say "hi" \\']);
    expect(values('a in (Größe, 東京, 10.0.0.1, 2026-01-01T00:00:00Z, "it\'s")')).toEqual([
      "Größe",
      "東京",
      "10.0.0.1",
      "2026-01-01T00:00:00Z",
      "it's",
    ]);
    expect(values('a = "and"')).toEqual(["and"]);
  });

  it("reports the column of an error, counted in characters", () => {
    const stops = (text: string): [number, string] => {
      try {
        parseSelector(text);
      } catch (error) {
        if (error instanceof SelectorError) return [columnOf(text, error.at), error.message];
      }
      throw new Error(`${text} was understood`);
    };
    const cases: [string, number, string][] = [
      ["", 1, "expected the name of a field but found the end"],
      ["a =", 4, "expected a value but found the end"],
      ["a = and", 5, 'expected a value but found "and"'],
      ["a = 1 b = 2", 7, 'expected and, or, or the end but found "b"'],
      ["(a = 1", 7, "expected ) but found the end"],
      ["a in 1", 6, 'expected ( and a list of values but found "1"'],
      ["a in ()", 7, 'expected a value but found ")"'],
      ["a not 1", 7, 'expected in but found "1"'],
      ['😀 = "x', 5, 'the text that begins here has no closing "'],
      ["a = 1 and ! b", 11, "! is not understood"],
      ["a = 1)", 6, 'expected and, or, or the end but found ")"'],
      ["'a' = 1", 1, 'expected the name of a field but found "a"'],
      ["not", 4, "expected the name of a field but found the end"],
    ];
    for (const [text, column, reason] of cases) expect(stops(text), text).toEqual([column, reason]);
    expect(stops(`${"(".repeat(MAX_DEPTH)}a`)[1]).toBe(`nested deeper than ${MAX_DEPTH} levels`);
    expect(stops(`${"not ".repeat(1000)}a`)[1]).toBe(`nested deeper than ${MAX_DEPTH} levels`);
    expect(stops(Array.from({ length: MAX_TERMS + 1 }, () => "a").join(" or "))[1]).toBe(
      `more than ${MAX_TERMS} conditions`,
    );
    expect(stops("a".repeat(4097))[1]).toBe("longer than 4096 characters");
  });
});

describe.each(bothEngines)("where on %s", (engine) => {
  let t: TestApp;
  let scene: Scene;
  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
    scene = await makeScene(t);
  });
  afterAll(() => t.close());

  const ask = (path: string, where: string) => t.get(`${path}?where=${encodeURIComponent(where)}`);
  async function picked(where: string): Promise<string> {
    const res = await ask("/hosts", where);
    expect(res.status, `${where}: ${await res.clone().text()}`).toBe(200);
    const { hosts } = (await res.json()) as { hosts: Host[] };
    return hosts
      .map(({ hostname }) => hostname)
      .sort()
      .join(" ");
  }

  it("selects the described hosts", async () => {
    const everyone = "bare mac server tux win";
    const cases: [string, string][] = [
      ['platform = darwin and label in ("On loan", "B c") and not label in (C) and seen < 7d', "mac"],
      ["hostname = mac or hostname = WIN", "mac win"],
      ["hostname != MAC and hostname not in (TUX, Bare)", "server win"],
      ["hardware_model = 'macbook pro'", ""],
      ["hostname ~ MA", "mac"],
      ["hostname in (mac, tux, gone)", "mac tux"],
      ["hostname not in (mac, tux)", "bare server win"],
      ["hardware_model ~ macbook", "mac"],
      ["hardware_model ~ '%'", ""],
      ["platform = linux", "tux"],
      ["platform != windows", "bare mac tux"],
      ["status = online", "mac server"],
      ["online", "mac server"],
      ["not online", "bare tux win"],
      ["online = false and status != missing", "win"],
      ["status in (missing, new)", "bare tux"],
      ["seen < 7d", "mac server"],
      ["seen >= 10d", "bare tux win"],
      ["seen > 10d", "bare tux"],
      ["seen = never", "bare"],
      ["seen > 2026-02-01 and seen < 2026-03-01T12:00:00Z", "win"],
      ["created_at > 45d", "bare tux"],
      ["detail_updated_at < 2d", "mac"],
      ["detail_updated_at > 2d", "bare server tux win"],
      ["detail_updated_at = never", "bare server tux win"],
      ["team = Lab", "mac tux"],
      ["team = lab", "mac tux"],
      ["team != Lab", "bare server win"],
      ["team = none", "bare server win"],
      ['team in (LAB, "No team")', everyone],
      [`team_id = ${scene.teamId}`, "mac tux"],
      ["team_id = none", "bare server win"],
      ["label = Über", "win"],
      ["label = U\u0308ber", "win"],
      ["label ~ LOAN", "mac tux"],
      ["label != 'On loan'", "bare server win"],
      ["label = none", "bare server"],
      ['policy.failing = "Disk encrypted"', "win"],
      ['policy.passing = "Disk encrypted"', "mac tux"],
      ["policy.failing ~ firewall", "mac"],
      ["policy.failing = none", "bare server tux"],
      ["issues > 0", "mac win"],
      ["issues = 0", "bare server tux"],
      ["issues <= 0", "bare server tux"],
      ['software.name ~ "chrome"', "mac win"],
      ["software.name ~ chrome and software.version = 1.2", "mac"],
      ["software(name ~ chrome and version = 1.2)", ""],
      ["software(name ~ chrome and not version = 141.0)", "win"],
      ["software(cve = cve-2026-0001)", "win"],
      ["software.source = apps", "mac win"],
      ["software.name != Figma", "bare server tux win"],
      ["software.name = none", "bare server tux"],
      ["cve in (CVE-2026-0001, cve-2026-0002)", "tux win"],
      ["os.name = Ubuntu and os.version = 24.04", "tux"],
      ["os.version ~ 24", "tux"],
      ["email ~ ada@", "mac"],
      ["user.email = none", "bare server tux win"],
      ["mdm.name = Svc", "mac server win"],
      ["mdm.server_url ~ rival", "bare"],
      ["mdm.enrollment_status = enrolled", "mac server win"],
      ["mdm.connected_to_svc", "mac win"],
      ["mdm.disk_encryption = action_required", "mac"],
      ["mdm.os_settings = failed", "win"],
      ["mdm.bootstrap_package = failed", "mac"],
      ["mdm.profile = VPN", "mac"],
      ["munki.version = 6.5", "mac"],
      ["munki.issue ~ check", "mac"],
      ["memory >= 16GB", "mac"],
      ["memory = 8GiB", "win"],
      ["memory < 8192MB", "bare server tux"],
      ["gigs_disk_space_available < 10GB and gigs_total_disk_space > 0", "mac"],
      ["gigs_disk_space_available = 100500MB", "win"],
      ["uptime > 2d", "tux"],
      ["disk_encryption_enabled", "mac"],
      ["disk_encryption_enabled = false", "win"],
      ["disk_encryption_enabled = none", "bare server tux"],
      ["not disk_encryption_enabled", "bare server tux win"],
      ["timezone = none", "bare server tux win"],
      ["timezone != 'Europe/Berlin'", "bare server tux win"],
      ["locked", ""],
      ["platform = darwin or platform = windows and online", "mac server"],
      ["(platform = darwin or platform = windows) and not online", "win"],
      ["not (platform = darwin or platform = windows)", "bare tux"],
      ["id > 0", everyone],
    ];
    for (const [where, expected] of cases) expect(await picked(where), where).toBe(expected);
  });

  it("refuses invalid input with its place, the column and a suggestion", async () => {
    const cases: [string, string][] = [
      ["hostnam = a", 'column 1: there is no field "hostnam"; did you mean "hostname"?'],
      ["online and sofware.name = a", 'column 12: there is no field "sofware.name"; did you mean "software.name"?'],
      ["password = a", 'column 1: there is no field "password"'],
      ["node_key_hash = a", 'column 1: there is no field "node_key_hash"'],
      ["constructor = a", 'column 1: there is no field "constructor"'],
      ["hostname", "column 9: expected =, !=, ~ or another comparison after hostname"],
      ["hostname < a", "column 1: hostname is text: it takes =, !=, ~, in and not in, not <"],
      ["memory ~ 1", "column 1: memory is a number: it takes =, !=, <, <=, >, >=, in and not in, not ~"],
      ["seen = 7d", "column 1: seen is a time: it takes <, <=, > and >=, and = never, not ="],
      ["memory > lots", 'column 10: "lots" is not a number of bytes, or a size such as 16GB'],
      [
        "memory > 9999999999999999PB",
        'column 10: "9999999999999999PB" is not a number of bytes, or a size such as 16GB',
      ],
      ["cpu_logical_cores > 4GB", 'column 21: "4GB" is not a number'],
      ["status = up", 'column 10: "up" is none of new, online, offline, mia, missing'],
      ["online = perhaps", 'column 10: "perhaps" is neither true nor false'],
      [
        "seen < soon",
        'column 8: "soon" is not a duration such as 7d, or a time such as 2026-01-31 or 2026-01-31T08:00:00Z',
      ],
      [
        "seen < 2026-13-45",
        'column 8: "2026-13-45" is not a duration such as 7d, or a time such as 2026-01-31 or 2026-01-31T08:00:00Z',
      ],
      [
        "seen < 99999999w",
        'column 8: "99999999w" is not a duration such as 7d, or a time such as 2026-01-31 or 2026-01-31T08:00:00Z',
      ],
      ['hostname ~ ""', "column 12: ~ needs some text to look for"],
      ["label(name = a)", "column 1: label takes no conditions in parentheses"],
      ["software(platform = darwin)", 'column 10: there is no field "platform"'],
      ["software(software(name = a))", "column 10: software takes no conditions in parentheses"],
    ];
    for (const [where, reason] of cases)
      for (const path of ["/hosts", "/hosts/count"]) {
        const res = await ask(path, where);
        expect(res.status, where).toBe(400);
        expect(((await res.json()) as { errors: unknown }).errors, where).toEqual([
          { name: "where", reason: `Invalid where: ${reason}` },
        ]);
      }
    expect((await ask("/hosts", "a".repeat(5000))).status).toBe(400);
  });

  it("refuses labels and teams that do not exist, or whose hosts the caller may not list", async () => {
    const app = await startApp({ engine });
    const mine = await makeTeam(app, "Mine");
    await makeTeam(app, "Others");
    const { id } = (
      (await (await app.post("/labels", { name: "Lab", query: "SELECT 1" })).json()) as { label: { id: number } }
    ).label;
    const host = await makeHost(app, { team_id: mine.id });
    await app.store.labelMembers.insert({ label_id: id, host_id: host.id });
    const viewer = await makeUser(app, { teams: [{ id: mine.id, role: "admin" }] });
    for (const [where, known] of [
      ["label = Lab", 1],
      ["not label in (Lab)", 0],
      ["label = none", 0],
      ["team = mine and label != Lab", 0],
      ['team != "No team"', 1],
      ["team = none", 0],
      ["label ~ Typo", 0],
    ] as const)
      for (const by of [app, viewer]) {
        const response = await by.get(`/hosts/count?where=${encodeURIComponent(where)}`);
        expect([response.status, await response.json()], where).toEqual([200, { count: known }]);
      }
    for (const path of ["/hosts?", "/hosts/count?", "/hosts/count?digest=true&", "/hosts/report?format=csv&"])
      expect(
        await reasonOf(await app.get(`${path}where=${encodeURIComponent("not label in (Lab, Labb)")}`)),
        path,
      ).toBe('Invalid where: column 20: there is no label "Labb"; did you mean "Lab"?');
    const hidden = await viewer.get(`/hosts?where=${encodeURIComponent("not team = Others")}`);
    expect([hidden.status, await reasonOf(hidden)]).toEqual([
      400,
      'Invalid where: column 12: there is no team "Others"',
    ]);
    const all = { where: "not label in (Typo)" };
    expect((await app.post("/hosts/delete", { filters: all })).status).toBe(400);
    expect((await app.post("/hosts/transfer/filter", { team_id: null, filters: all })).status).toBe(400);
    expect(await app.store.hosts.list({})).toMatchObject([{ id: host.id, team_id: mine.id }]);
  });

  it("returns 200 or 400 for any input", async () => {
    for (const where of ["\0", "hostname = '\0'", "hostname = \ufffd", "id = 1.5", "id = -1", "team_id = 9007199254740991", "memory = -0",
      "seen < 0ms", "seen > 100w", "uptime > 0.000000001ms", "hostname in (a,a,a)", "label in (none, none)", "cve ~ CVE"]) // biome-ignore format: a list
      expect([200, 400], where).toContain((await ask("/hosts/count", where)).status);
    const long = `hostname in (${Array.from({ length: 1000 }, (_, i) => i).join(",")})`;
    expect((await ask("/hosts/count", long)).status).toBe(200);
    const wide = Array.from({ length: MAX_TERMS }, (_, i) => `software.name ~ ${i}`).join(" or ");
    expect((await ask("/hosts/count", wide)).status).toBe(200);
  });

  it("explains which parts match a host", async () => {
    const id = scene.ids.get("win")!;
    const where = 'platform = windows and (not online or software.name ~ "figma")';
    const res = await ask(`/hosts/${id}/explain`, where);
    expect(await res.json()).toEqual({
      host_id: id,
      where,
      matches: true,
      parts: [
        { text: where, depth: 0, matches: true },
        { text: "platform = windows", depth: 1, matches: true },
        { text: '(not online or software.name ~ "figma")', depth: 1, matches: true },
        { text: "not online", depth: 2, matches: true },
        { text: "online", depth: 3, matches: false },
        { text: 'software.name ~ "figma"', depth: 2, matches: false },
      ],
    });
    expect((await ask(`/hosts/${id}/explain`, "nope = 1")).status).toBe(400);
    expect((await t.get(`/hosts/${id}/explain`)).status).toBe(400);
    expect((await ask("/hosts/99999/explain", "online")).status).toBe(404);
    const member = await makeUser(t, { teams: [{ id: scene.teamId, role: "observer" }] });
    expect((await member.get(`/hosts/${id}/explain?where=online`)).status).toBe(404);
    expect((await member.get(`/hosts/${scene.ids.get("mac")}/explain?where=online`)).status).toBe(200);
    expect((await (await makeUser(t, "gitops")).get(`/hosts/${id}/explain?where=online`)).status).toBe(403);
  });
});
