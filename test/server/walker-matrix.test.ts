// Every endpoint x every role, global or on one team x objects of that team, of another, of none, or missing ones.
// Requests that the table of permissions does not allow must fail; those that it allows must succeed.
import { expect, it } from "vitest";
import { type Role, roles } from "../../src/api/access.ts";
import { allEndpoints } from "../../src/api/all.ts";
import { fullPath } from "../../src/api/paths.ts";
import { startApp } from "../support/app.ts";
import { type MadeUser, makeSession, makeTeam, makeUser } from "../support/make.ts";
import { mayGlobally, mayOnTeam, type PermissionName, rules } from "./walker-rules.ts";
import { MISSING, type Place, refuses, type Target, targets, type World } from "./walker-targets.ts";

/** The callers: with a global role, with roles on teams, or with none. */
interface Person {
  readonly who: string;
  readonly global: Role | null;
  readonly teams: { readonly own?: Role; readonly other?: Role };
  readonly user: MadeUser;
}

function allowed(row: PermissionName, target: Target, { global, teams }: Person, place: Place): boolean {
  if (global !== null) return mayGlobally(row, global);
  if (target.into && !(teams.own && mayOnTeam(row, teams.own))) return false;
  const held = target.anywhere ? Object.values(teams) : place === "own" || place === "other" ? [teams[place]] : [];
  return held.some((role) => role !== undefined && mayOnTeam(row, role));
}

async function cast({ t, own, other }: World): Promise<Person[]> {
  const people: Person[] = [];
  for (const role of roles) {
    const more = { api_only: role === "gitops" || role === "plan" };
    people.push({ who: `global ${role}`, global: role, teams: {}, user: await makeUser(t, role, more) });
    const user = await makeUser(t, { teams: [{ id: own, role }] }, more);
    people.push({ who: `team ${role}`, global: null, teams: { own: role }, user });
  }
  // Rights on one team mean nothing on another, and users without a role have no rights.
  const mixed = [
    { id: own, role: "observer" },
    { id: other, role: "admin" },
  ] as const;
  const user = await makeUser(t, { teams: mixed });
  people.push({ who: "observer here, admin there", global: null, teams: { own: "observer", other: "admin" }, user });
  people.push({ who: "nobody's member", global: null, teams: {}, user: await makeUser(t, { teams: [] }) });
  return people;
}

/** The texts and numbers of a request; users are keys in some. */
function valuesOf(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.entries(value).flat().flatMap(valuesOf);
  return value === undefined || value === null || value === "" ? [] : [String(value)];
}

/** What an error says, without what the caller sent. */
function comparable(text: string, { path, body }: Awaited<ReturnType<Target["call"]>>): string {
  const sent = [
    ...path
      .split(/[/?&=]/)
      .filter(Boolean)
      .map(decodeURIComponent),
    ...valuesOf(body),
  ];
  let rest = text.replaceAll(/"uuid":"[^"]*"/g, '"uuid":""');
  for (const value of sent.sort((a, b) => b.length - a.length))
    rest = rest.replaceAll(new RegExp(`(?<!\\w)${value.replaceAll(/\W/g, "\\$&")}(?!\\w)`, "g"), "SENT");
  return rest;
}

it("covers every endpoint whose rule is a role", () => {
  const roleRules = Object.keys(rules).filter((key) => rules[key] !== "open" && rules[key] !== "self");
  expect(Object.keys(targets).sort()).toEqual(roleRules.sort());
});

it("allows what the table of roles allows, and nothing else", { timeout: 300_000 }, async () => {
  const t = await startApp();
  const world: World = { t, own: (await makeTeam(t)).id, other: (await makeTeam(t)).id };
  const people = await cast(world);
  const wrong: string[] = [];
  let cells = 0;
  for (const { endpoint } of allEndpoints) {
    const key = `${endpoint.method} ${endpoint.path}`;
    const target = targets[key];
    if (!target) continue;
    const row = rules[key] as PermissionName;
    // A request that was refused, or that only reads, leaves its objects to the next caller.
    const made: Partial<Record<Place, Awaited<ReturnType<Target["call"]>>>> = {};
    for (const person of people) {
      const statuses: Partial<Record<Place, number>> = {};
      const texts: Partial<Record<Place, string>> = {};
      for (const place of target.places) {
        made[place] ??= await target.call(world, place);
        const { path, body } = made[place];
        const res = await person.user.request(endpoint.method, path, body);
        if (res.ok && endpoint.method !== "GET") delete made[place];
        cells++;
        statuses[place] = res.status;
        const may = allowed(row, target, person, place);
        const who = `${person.who}: ${key} (${place}): ${res.status}`;
        // The table does not cover a user's own objects: here none of them belongs to the caller.
        if (!may && res.status < 400) wrong.push(`${who}, but is not allowed`);
        const refusals = target.refusals ?? [403, 404];
        if (!may && !refusals.includes(res.status)) wrong.push(`${who}, want ${refusals.join(" or ")}`);
        if (may && (res.status === 401 || res.status === 403)) wrong.push(`${who}, but is allowed`);
        const isFailure = res.status >= 400;
        const text = isFailure ? await res.text() : "";
        texts[place] = comparable(text, { path, body });
        if (!isFailure) await res.body?.cancel();
        if (may && place !== "missing" && isFailure && !refuses.has(key)) wrong.push(`${who}, want success: ${text}`);
      }
      // For team users, objects of others do not exist.
      if (person.global === null && !person.teams.other && target.places.includes("missing"))
        if (target.places.includes("other")) {
          const { other, missing } = texts;
          if (statuses.other !== statuses.missing || other !== missing)
            wrong.push(
              `${person.who}: ${key}: other team's ${statuses.other} ${other}, missing ${statuses.missing} ${missing}`,
            );
        }
    }
    const { path, body } = await target.call(world, target.places[0]!);
    const res = await t.as(null).request(endpoint.method, path, body);
    cells++;
    if (res.status !== 401) wrong.push(`without a token: ${key}: ${res.status}`);
  }
  expect(wrong).toEqual([]);
  expect(cells).toBeGreaterThan(5000);
});

/** The caller's own objects, except for roles that may only run live queries: these have tests of their own. */
const apart: ReadonlySet<string> = new Set([
  "GET /queries/live/:id",
  "GET /queries/live/:id/stream",
  "POST /queries/live/:id/cancel",
]);

it("allows every signed-in user their own data, and requires no token where none is needed", async () => {
  const t = await startApp();
  const world: World = { t, own: (await makeTeam(t)).id, other: (await makeTeam(t)).id };
  const people = await cast(world);
  const wrong: string[] = [];
  let cells = 0;
  for (const { endpoint } of allEndpoints) {
    const key = `${endpoint.method} ${endpoint.path}`;
    if ((rules[key] !== "open" && rules[key] !== "self") || apart.has(key)) continue;
    const path = fullPath(endpoint).replaceAll(/:[a-z_]+/g, String(MISSING));
    const body = endpoint.hasBody ? {} : undefined;
    const anonymous = await t.as(null).request(endpoint.method, path, body);
    const told = await anonymous.text();
    cells++;
    if ((rules[key] === "self") !== told.includes("Authorization header required"))
      wrong.push(`without a token: ${key}: ${anonymous.status} ${told.slice(0, 200)}`);
    if (rules[key] !== "self") continue;
    for (const { who, global, teams, user } of people) {
      // A separate session for each, because some of the calls end it.
      const res = await t.as(await makeSession(t, user.id)).request(endpoint.method, path, body);
      const text = await res.text();
      cells++;
      // The role plan is for reading only, even of what is its own.
      if ((global ?? teams.own) === "plan" && endpoint.method !== "GET" && key !== "POST /logout") {
        if (res.status !== 403) wrong.push(`${who}: ${key}: ${res.status}, but may change nothing`);
        continue;
      }
      const refused = res.status === 401 || (res.status === 403 && !text.includes("Permission Denied"));
      if (refused || res.status >= 500) wrong.push(`${who}: ${key}: ${res.status} ${text.slice(0, 200)}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(cells).toBeGreaterThan(150);
});
