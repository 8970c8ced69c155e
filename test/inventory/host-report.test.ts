// The CSV export of hosts, lists by cursor, and long lists.
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import type { Host } from "../../src/api/hosts/host.ts";
import { reportColumns } from "../../src/server/inventory/host-list/report.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeScene } from "../support/hosts.ts";
import { hostRow, makeHost, makeLabel, makePolicy, makeResults, makeTeam, makeUser } from "../support/make.ts";

const reasonOf = async (res: Response) =>
  ((await res.json()) as { errors: { name: string; reason: string }[] }).errors[0]!;
const rowsOf = async (res: Response) => (await res.text()).trimEnd().split("\r\n");

describe.each(bothEngines)("the report of hosts on %s", (engine) => {
  it("is a CSV file with the requested columns in their order, by default all", async () => {
    const t = await startApp({ engine });
    await makeScene(t);
    const res = await t.get(
      "/hosts/report?format=csv&columns=hostname,id,%20hostname,device_mapping&order_key=hostname",
    );
    expect(res.status).toBe(200);
    expect(res.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(res.headers.get("content-disposition")).toBe('attachment; filename="hosts-2026-03-01.csv"');
    const [head, ...rows] = await rowsOf(res);
    expect(head).toBe("hostname,id,hostname,device_mapping");
    expect(rows.map((row) => row.split(",")[0])).toEqual(["bare", "mac", "server", "tux", "win"]);
    expect(rows[1]).toMatch(/^mac,\d+,mac,Ada@Example\.com$/);
    const [all, first] = await rowsOf(await t.get("/hosts/report?format=csv&order_key=id"));
    expect(all).toBe(reportColumns.join(","));
    expect(first!.split(",")).toHaveLength(reportColumns.length);
    expect((await rowsOf(await t.get("/hosts/report?format=csv&columns=")))[0]).toBe(reportColumns.join(","));
    const [, mac] = await rowsOf(
      await t.get(
        "/hosts/report?format=csv&query=mac&columns=disk_encryption_enabled,timezone,memory,team_name,mdm.name,issues",
      ),
    );
    expect(mac).toBe("true,Europe/Berlin,17179869184,Lab,Svc,1");
    expect(await rowsOf(await t.get("/hosts/report?format=csv&query=nothing&columns=id"))).toEqual(["id"]);
  });

  it("contains every value as in the list", async () => {
    const t = await startApp({ engine });
    await makeScene(t);
    const { hosts } = (await (await t.get("/hosts?order_key=id")).json()) as { hosts: Host[] };
    for (const column of reportColumns) {
      if (["issues", "device_mapping"].includes(column)) continue;
      const csv = await (await t.get(`/hosts/report?format=csv&order_key=id&columns=${column}`)).text();
      const at = (host: Host): unknown =>
        column.startsWith("mdm.") ? host.mdm[column.slice(4) as keyof Host["mdm"]] : host[column as keyof Host];
      expect(csv.split("\r\n").slice(1, -1), column).toEqual(hosts.map((host) => String(at(host) ?? "")));
    }
  });

  it("escapes names that look like formulas, and quotes special characters", async () => {
    const t = await startApp({ engine });
    const names = ["=cmd|'/c calc'!A1", "+1", "-2+3", "@SUM(A1)", "\tx", "\rx", 'a "b", c', "two\nlines", "plain=1"];
    for (const display_name of names) await makeHost(t, { display_name });
    const csv = await (await t.get("/hosts/report?format=csv&columns=display_name&order_key=id")).text();
    expect(csv).toBe(
      [
        "display_name",
        "'=cmd|'/c calc'!A1",
        "'+1",
        "'-2+3",
        "'@SUM(A1)",
        "'\tx",
        `"'\rx"`,
        '"a ""b"", c"',
        '"two\nlines"',
        "plain=1",
        "",
      ].join("\r\n"),
    );
  });

  it("refuses other formats and unknown columns, with their names", async () => {
    const t = await startApp({ engine });
    expect(await reasonOf(await t.get("/hosts/report"))).toEqual({
      name: "format",
      reason: "Param format is required",
    });
    expect(await reasonOf(await t.get("/hosts/report?format=json"))).toEqual({
      name: "format",
      reason: "Invalid format: json",
    });
    for (const [columns, reason] of [
      ["id,nope", "Invalid columns: nope; columns: id, display_name, hostname, "],
      ["hostnam", "Invalid columns: hostnam (did you mean hostname?)"],
      ["node_key_hash", "Invalid columns: node_key_hash"],
      ["revision", "Invalid columns: revision"],
    ]) {
      const res = await t.get(`/hosts/report?format=csv&columns=${columns}`);
      expect(res.status, columns).toBe(400);
      expect(await reasonOf(res), columns).toEqual({
        name: "columns",
        reason: expect.stringContaining(String(reason)),
      });
    }
    expect((await t.get("/hosts/report?format=csv&order_key=password")).status).toBe(400);
    expect((await t.get("/hosts/report?format=csv&page=-1&per_page=x")).status).toBe(200);
  });

  it("is aborted with an entry in the log if hosts cannot be read completely", async () => {
    const lines: string[] = [];
    const t = await startApp({
      engine,
      log: pino({ level: "error" }, { write: (line: string) => void lines.push(line) }),
    });
    await t.store.hosts.insertMany(Array.from({ length: 300 }, () => hostRow(t.clock.iso())));
    const res = await t.get("/hosts/report?format=csv&columns=id");
    t.clock.iso = () => {
      throw new Error("no time");
    };
    await expect(res.text()).rejects.toThrow("no time");
    expect(lines.join()).toContain("the report of hosts broke off");
  });

  it("is sent page by page: the header before a host is read, and not more than the client accepts", async () => {
    const t = await startApp({ engine });
    await t.store.hosts.insertMany(
      Array.from({ length: 700 }, (_, n) => hostRow(t.clock.iso(), { hostname: `h${n}`.padEnd(1000, ".") })),
    );
    const res = await t.get("/hosts/report?format=csv&columns=id,hostname");
    const reader = res.body!.getReader();
    const chunk = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await chunk()).toBe("id,hostname\r\n");
    expect((await chunk()).trim().split("\r\n").length).toBeLessThanOrEqual(500);
    await reader.cancel();
    const lines = await rowsOf(await t.get("/hosts/report?format=csv&columns=id&order_key=hostname"));
    expect(new Set(lines).size).toBe(701);
  });
});

interface Page {
  ids: number[];
  next: string | null;
}

describe.each(bothEngines)("lists by cursor on %s", (engine) => {
  const pageOf = async (t: Pick<TestApp, "get">, list: "hosts" | "activities", query: string): Promise<Page> => {
    const res = await t.get(`/${list}?${query}`);
    expect(res.status, `${query}: ${await res.clone().text()}`).toBe(200);
    const body = (await res.json()) as Record<string, { id: number }[]> & { meta: { next_cursor: string | null } };
    expect(body.meta, query).toHaveProperty("next_cursor");
    return { ids: body[list]!.map(({ id }) => id), next: body.meta.next_cursor };
  };

  it("lists each host exactly once while hosts are added, deleted and changed", async () => {
    const t = await startApp({ engine });
    const made = await t.store.hosts.insertMany(
      Array.from({ length: 10 }, () => hostRow(t.clock.iso(), { platform: "ubuntu" })),
    );
    const ids = made.map(({ id }) => id);
    const seen: number[] = [];
    let cursor: string | null = "";
    for (let turn = 0; cursor !== null; turn++) {
      const page: Page = await pageOf(t, "hosts", `per_page=3&where=platform%20%3D%20ubuntu&cursor=${cursor}`);
      seen.push(...page.ids);
      cursor = page.next;
      if (turn === 0) {
        await t.store.hosts.delete({ op: "in", column: "id", values: [ids[1]!, ids[4]!] });
        await t.store.hosts.updateEach(
          ids.slice(5).map((id, i) => ({ id, hostname: `a${9 - i}`, updated_at: t.clock.iso() })),
        );
        await makeHost(t, { hostname: "0" });
      }
    }
    expect(new Set(seen).size).toBe(seen.length);
    for (const id of ids.filter((_, i) => i !== 1 && i !== 4)) expect(seen).toContain(id);
    expect(seen).not.toContain(ids[4]);
  });

  it("lists activities newest first by cursor, whatever happens in the meantime", async () => {
    const t = await startApp({ engine });
    for (let i = 0; i < 5; i++) await makeUser(t, "observer");
    const insert = (type: string) => t.store.activities.insert({ created_at: t.clock.iso(), type });
    const before = [];
    for (let i = 0; i < 5; i++) before.push((await insert(`kind ${i}`)).id);
    const first = await pageOf(t, "activities", "per_page=2&order_key=id&order_direction=desc&cursor=");
    await insert("later");
    const second = await pageOf(t, "activities", `per_page=2&order_key=id&order_direction=desc&cursor=${first.next}`);
    expect([...first.ids, ...second.ids]).toEqual(before.reverse().slice(0, 4));
  });

  it("refuses cursors of other lists, invented ones, and orders that change", async () => {
    const t = await startApp({ engine });
    await t.store.hosts.insertMany([hostRow(t.clock.iso()), hostRow(t.clock.iso())]);
    const { next } = await pageOf(t, "hosts", "per_page=1&cursor=");
    const bad = [
      "cursor=abc",
      "cursor=%00",
      `cursor=${Buffer.from("hosts asc -1").toString("base64url")}`,
      `cursor=${Buffer.from("hosts asc 1e5").toString("base64url")}`,
      `cursor=${Buffer.from("hosts asc 1 2").toString("base64url")}`,
      `cursor=${Buffer.from("hosts asc 9999999999999999").toString("base64url")}`,
      `cursor=${next}&order_key=id&order_direction=desc`,
      `cursor=${next}&page=1`,
      `cursor=${next}&order_key=hostname`,
      `cursor=${next}&order_key=id&after=1`,
      `cursor=${"a".repeat(300)}`,
    ];
    for (const query of bad) {
      const res = await t.get(`/hosts?${query}`);
      expect(res.status, query).toBe(400);
      expect((await reasonOf(res)).name, query).toBe("cursor");
    }
    expect((await t.get(`/activities?cursor=${next}`)).status).toBe(400);
    const plain = (await (await t.get("/hosts?per_page=1")).json()) as { meta: object };
    expect(plain.meta).toEqual({ has_next_results: true, has_previous_results: false });
  });

  it("returns the total number on request only", async () => {
    const t = await startApp({ engine });
    await makeScene(t);
    const total = async (path: string) => (await t.get(path)).headers.get("x-total-count");
    expect(await total("/hosts?per_page=1")).toBeNull();
    expect(await total("/hosts?per_page=1&with_count=true")).toBe("5");
    expect(await total("/hosts?per_page=1&with_count=1&query=mac")).toBe("1");
    expect(await total("/hosts?cursor=&with_count=true")).toBe("5");
    const { activities } = (await (await t.get("/activities")).json()) as { activities: unknown[] };
    expect(await total("/activities?per_page=1&with_count=true")).toBe(String(activities.length));
  });
});

describe.each(bothEngines)("a list of more hosts than fit one text on %s", (engine) => {
  interface Listed {
    hosts: { id: number; hostname: string; labels?: { name: string }[] }[];
    meta: object;
  }
  const read = async (res: Response) => {
    expect(res.status).toBe(200);
    return (await res.json()) as Listed;
  };
  /** Without the check of every key, which takes longer than the reply. */
  const listed = async (t: TestApp, path: string) =>
    read(await t.raw(`/api/v1/svc${path}`, { headers: { authorization: `Bearer ${t.token}` } }));
  const N = 1203;

  it("is complete, in order and by page, like shorter ones", async () => {
    const t = await startApp({ engine });
    const made = await t.store.hosts.insertMany(
      Array.from({ length: N }, (_, n) => hostRow(t.clock.iso(), { hostname: `h${String(n).padStart(4, "0")}` })),
    );
    const ids = made.map(({ id }) => id);
    const label = await makeLabel(t, "all", ids);
    const policy = await makePolicy(t);
    await makeResults(t, ids[7]!, { failing: [policy] });
    const idsOf = async (path: string) => (await listed(t, path)).hosts.map(({ id }) => id);
    const none = { has_next_results: false, has_previous_results: false };

    const all = await read(await t.get("/hosts?populate_labels=true"));
    expect(all.meta).toEqual(none);
    expect(all.hosts.map(({ id }) => id)).toEqual(ids);
    expect(all.hosts.every(({ labels }) => labels?.[0]?.name === "all")).toBe(true);
    expect(await idsOf("/hosts?order_key=hostname&order_direction=desc")).toEqual(ids.toReversed());
    expect(await idsOf(`/labels/${label.id}/hosts?order_key=hostname&after=h0001`)).toEqual(ids.slice(2));
    expect(await idsOf("/hosts?order_key=issues&order_direction=desc&per_page=1100")).toEqual(
      [ids[7]!, ...ids.toReversed().filter((id) => id !== ids[7])].slice(0, 1100),
    );
    const first = await listed(t, "/hosts?per_page=1100&page=0&with_count=true");
    const second = await listed(t, "/hosts?per_page=1100&page=1");
    expect(first.meta).toEqual({ has_next_results: true, has_previous_results: false });
    expect(second.meta).toEqual({ has_next_results: false, has_previous_results: true });
    expect([...first.hosts, ...second.hosts].map(({ id }) => id)).toEqual(ids);
    expect((await listed(t, "/hosts?per_page=5000&cursor=")).meta).toMatchObject({ has_next_results: true });
    expect((await t.get("/hosts?order_key=team_name&after=a")).status).toBe(400);
  });

  it("is sent in parts, each with the current state of its hosts", async () => {
    const t = await startApp({ engine });
    const [team, other] = [await makeTeam(t), await makeTeam(t)];
    const made = await t.store.hosts.insertMany(
      Array.from({ length: N }, () => hostRow(t.clock.iso(), { team_id: team.id })),
    );
    const last = made.slice(-2).map(({ id }) => id);
    const { token } = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
    const res = await t.raw("/api/v1/svc/hosts", { headers: { authorization: `Bearer ${token}` } });
    const reader = res.body!.getReader();
    const decoder = new TextDecoder();
    let text = decoder.decode((await reader.read()).value);
    text += decoder.decode((await reader.read()).value);
    expect(text.length).toBeLessThan(1_000_000);
    // One is deleted, one is no longer visible to the caller.
    await t.delete(`/hosts/${last[0]}`);
    await t.post("/hosts/transfer", { team_id: other.id, hosts: [last[1]] });
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value);
    }
    expect((JSON.parse(text) as Listed).hosts.map(({ id }) => id)).toEqual(made.slice(0, -2).map(({ id }) => id));
  });
});
