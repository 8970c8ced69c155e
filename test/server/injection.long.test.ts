// Hostile text in every parameter that reaches the store: refused or used literally, the same on both engines.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeHost, makeInventory, makeSoftware, makeTeam, makeUser } from "../support/make.ts";

const seeds = [
  "'", '"', "''", "\\", "\\'", "%", "_", "%%", "*", ";", "--", "/*", "*/", "`", "$1", "$$", "?", ":id", "\u0000", "\n", "\t",
  "' OR '1'='1", "' OR 1=1--", '" OR ""="', "1; DROP TABLE hosts", "1; SELECT pg_sleep(5)", "id; DELETE FROM users--",
  "(SELECT password_hash FROM users LIMIT 1)", "(CASE WHEN 1=1 THEN id ELSE hostname END)", "id,(SELECT 1)", "id desc, 1",
  "hosts.id", "t0.node_key_hash", "node_key_hash", "identifier", "revision", "password_hash", "token_hash", "uuid_search",
  "__proto__", "constructor", "toString", "hasOwnProperty", "h.node_key_hash", "h.id", "users.email", "1", "0", "-1", "NaN", "null",
  "id::text", "id COLLATE \"C\"", "random()", "pg_sleep(1)", "\\x27", "%27%20OR%201=1", "＇ OR 1=1", "ʼ OR 1=1", "\uD800", "🦊' OR 1=1",
  "UNION SELECT * FROM sessions", "' UNION SELECT token_hash FROM sessions--", "'; COPY users TO PROGRAM 'id'--", "{\"$gt\":\"\"}",
  "[$ne]", "\u0024{id}", "{{7*7}}", "a' AND (SELECT 1 FROM pg_user)='1", "x') OR ('1'='1", "\\%", "\\_", "\\\\", "'||'", "'+'", "chr(39)",
]; // biome-ignore format: a list
/** More than five hundred: each seed alone, quoted, closed, commented and after a valid value. */
const payloads = seeds.flatMap((seed) => [
  seed,
  `id${seed}`,
  `'${seed}`,
  `${seed}--`,
  `host${seed}`,
  `${seed})`,
  `id ${seed}`,
]);

const apps: TestApp[] = [];
beforeAll(async () => {
  for (const engine of bothEngines) {
    const t = await startApp({ engine, shared: true });
    const team = await makeTeam(t, 'O\'Brien "team" %');
    for (const hostname of [
      "plain",
      "it's",
      'quo"te',
      "100%",
      "under_score",
      "back\\slash",
      "semi;colon",
      "dash--dash",
    ]) {
      const host = await makeHost(t, {
        hostname,
        display_name: hostname,
        uuid: `u-${hostname}`,
        hardware_serial: `S-${hostname}`,
        team_id: team.id,
      });
      await makeInventory(t, host.id, [await makeSoftware(t, `app ${hostname}`, "1")]);
    }
    await makeUser(t, "observer", { name: "Ann O'Hara 50%_", email: "o'hara@example.com" });
    apps.push(t);
  }
});
afterAll(() => Promise.all(apps.map((t) => t.close())));

const answer = async (t: TestApp, path: string) => {
  const res = await t.get(path);
  const body = (await res.json()) as Record<string, unknown>;
  delete body.uuid;
  return { status: res.status, body };
};
const namesOf = ({ body }: { body: Record<string, unknown> }, key: string, field: string) =>
  ((body[key] ?? []) as Record<string, string>[]).map((row) => row[field]).sort();
const both = async (path: string) => [await answer(apps[0]!, path), await answer(apps[1]!, path)] as const;
const encoded = (text: string) => encodeURIComponent(text.toWellFormed());

const searched = [
  ["/users", "users", "email"],
  ["/teams", "teams", "name"],
  ["/activities", "activities", "type"],
  ["/hosts/1/software", "software", "name"],
] as const;

/** Each seed is sent to all of these places; each of its variants to one of them in turn. */
const inTurn = <T>(places: readonly T[], n: number, payload: string): readonly T[] =>
  seeds.includes(payload) ? places : [places[n % places.length]!];

describe("hostile text", () => {
  it("exists in sufficient number", () => expect(new Set(payloads).size).toBeGreaterThanOrEqual(500));

  it("is not accepted as an order key, in any list", { timeout: 600_000 }, async () => {
    const lists = ["/hosts", "/hosts/count", "/users", "/teams", "/activities", "/hosts/1/software"];
    for (const [i, payload] of payloads.entries())
      for (const t of apps)
        for (const list of inTurn(lists, i, payload)) {
          const { status, body } = await answer(t, `${list}?order_key=${encoded(payload)}`);
          expect(status, `${list} ${payload}`).toBe(400);
          expect(body.errors, payload).toMatchObject([{ name: "order_key" }]);
        }
  });

  it("is searched for literally", { timeout: 600_000 }, async () => {
    const hosts = namesOf(await answer(apps[0]!, "/hosts"), "hosts", "hostname") as string[];
    for (const [i, payload] of payloads.entries()) {
      const needle = payload.toWellFormed().replaceAll("\u0000", "\uFFFD").trim().toLowerCase();
      const [one, other] = await both(`/hosts?query=${encoded(payload)}`);
      expect([one.status, other.status], payload).toEqual([200, 200]);
      expect(namesOf(one, "hosts", "hostname"), payload).toEqual(namesOf(other, "hosts", "hostname"));
      // A text that is not a hostname may still be in a serial number or address, but not with special characters.
      if (/['"%\\;]|--/.test(needle))
        expect(namesOf(one, "hosts", "hostname"), payload).toEqual(hosts.filter((name) => name.includes(needle)));
      for (const [path, key, field] of inTurn(searched, i, payload)) {
        const [here, there] = await both(`${path}?query=${encoded(payload)}`);
        expect([here.status, there.status], `${path} ${payload}`).toEqual([200, 200]);
        expect(namesOf(here, key, field), `${path} ${payload}`).toEqual(namesOf(there, key, field));
      }
    }
  });

  it("is compared literally in after", { timeout: 600_000 }, async () => {
    for (const [i, payload] of payloads.entries()) {
      const after = `after=${encoded(payload)}`;
      const [one, other] = await both(`/hosts?order_key=hostname&${after}`);
      expect([one.status, other.status], payload).toEqual([200, 200]);
      expect(namesOf(one, "hosts", "hostname"), payload).toEqual(namesOf(other, "hosts", "hostname"));
      for (const key of inTurn(["id", "created_at", "seen_time", "memory", "refetch_requested"], i, payload)) {
        const [here, there] = await both(`/hosts?order_key=${key}&${after}`);
        expect([200, 400], `${key} ${payload}`).toContain(here.status);
        expect(namesOf(here, "hosts", "hostname"), `${key} ${payload}`).toEqual(namesOf(there, "hosts", "hostname"));
        expect(here.status, `${key} ${payload}`).toBe(there.status);
      }
    }
  });

  it("finds nothing as a name, a filter or a secret, and changes nothing", { timeout: 600_000 }, async () => {
    for (const t of apps) {
      const before = await t.store.hosts.count();
      for (const payload of payloads.filter((_, i) => i % 3 === 0)) {
        for (const path of [
          `/hosts?os_name=${encoded(payload)}&os_version=${encoded(payload)}`,
          `/activities?activity_type=${encoded(payload)}`,
          `/hosts?additional_info_filters=${encoded(payload)}`,
        ])
          expect((await answer(t, path)).status, path).toBe(200);
        expect((await answer(t, `/host_summary?platform=${encoded(payload)}`)).status, payload).toBe(400);
        const byName = await t.get(`/hosts/identifier/${encoded(payload)}`);
        expect([404, 400], payload).toContain(byName.status);
        const removed = await t.post("/hosts/delete", { filters: { query: `zz${payload}zz` } });
        // Halves of characters are refused in bodies.
        expect(removed.status, payload).toBe(payload.isWellFormed() ? 200 : 422);
      }
      expect(await t.store.hosts.count()).toBe(before);
    }
  });
});
