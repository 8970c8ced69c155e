// Every endpoint x every role, held globally or on one team x what belongs to that team, to another, to none, or is missing.
// What part C's table does not allow must not succeed; what it allows must.
import { expect, it } from "vitest";
import { type Role, roles } from "../../src/api/access.ts";
import { allEndpoints } from "../../src/api/all.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { type MadeUser, makeHost, makeSession, makeTeam, makeUser } from "../support/make.ts";
import { mayGlobally, mayOnTeam, type Row, rules } from "./walker-rules.ts";

type Place = "own" | "other" | "none" | "missing";
const places: readonly Place[] = ["own", "other", "none", "missing"];
const MISSING = 999_999;

interface World {
  readonly t: TestApp;
  readonly own: number;
  readonly other: number;
}
interface Call {
  readonly path: string;
  readonly body?: unknown;
}
/** Where the thing called for can be, and the call; each makes what it needs anew, for what may be gone afterwards. */
interface Target {
  readonly places: readonly Place[];
  /** The place decides whether a team role suffices: a call without one is allowed where the role is held anywhere. */
  readonly anywhere?: boolean;
  call(world: World, place: Place): Promise<Call>;
}

const teamOf = ({ own, other }: World, place: Place): number | null =>
  place === "own" ? own : place === "other" ? other : null;
const hostAt = async (world: World, place: Place) =>
  place === "missing" ? MISSING : (await makeHost(world.t, { team_id: teamOf(world, place) })).id;
const teamAt = (world: World, place: Place) => (place === "missing" ? MISSING : teamOf(world, place)!);
const userAt = async (world: World, place: Place) => {
  if (place === "missing") return MISSING;
  const team = teamOf(world, place);
  return (await makeUser(world.t, team === null ? "observer" : { teams: [{ id: team, role: "observer" }] })).id;
};

const onHost = (rest = "", body?: unknown): Target => ({
  places,
  call: async (world, place) => ({ path: `/hosts/${await hostAt(world, place)}${rest}`, body }),
});
const byTeamFilter = (path: string): Target => ({
  places,
  call: async (world, place) => ({
    path: `${path}?team_id=${place === "none" ? 0 : teamAt(world, place)}`,
  }),
});
const onTeam = (rest = "", body?: (world: World) => unknown): Target => ({
  places: ["own", "other", "missing"],
  call: async (world, place) => ({ path: `/teams/${teamAt(world, place)}${rest}`, body: body?.(world) }),
});
const onUser = (rest = "", body?: unknown): Target => ({
  places,
  call: async (world, place) => ({ path: `/users/${await userAt(world, place)}${rest}`, body }),
});
const plain = (path: string, body?: () => unknown): Target => ({
  places: ["none"],
  call: async () => ({ path, body: body?.() }),
});
const anywhere = (path: string): Target => ({ ...plain(path), anywhere: true });

let names = 0;
const email = () => `made-${++names}@example.com`;

const targets: Record<string, Target> = {
  "GET /activities": plain("/activities"),
  "GET /config": anywhere("/config"),
  "PATCH /config": plain("/config", () => ({ org_info: { org_name: "x" } })),
  "GET /config/certificate": anywhere("/config/certificate"),
  "GET /spec/enroll_secret": plain("/spec/enroll_secret"),
  "POST /spec/enroll_secret": plain("/spec/enroll_secret", () => ({ spec: { secrets: [{ secret: "s".repeat(40) }] } })),
  "GET /teams/:id/secrets": onTeam("/secrets"),
  "PATCH /teams/:id/secrets": onTeam("/secrets", () => ({ secrets: [] })),
  "GET /hosts": byTeamFilter("/hosts"),
  "GET /hosts/count": byTeamFilter("/hosts/count"),
  "GET /host_summary": byTeamFilter("/host_summary"),
  "GET /hosts/:id": onHost(),
  "GET /hosts/identifier/:identifier": {
    places,
    call: async (world, place) => {
      const id = await hostAt(world, place);
      return { path: `/hosts/identifier/${(await world.t.store.hosts.get(id))?.uuid ?? "nothing"}` };
    },
  },
  "DELETE /hosts/:id": onHost(),
  "POST /hosts/delete": {
    places,
    call: async (world, place) => ({ path: "/hosts/delete", body: { ids: [await hostAt(world, place)] } }),
  },
  "POST /hosts/:id/refetch": onHost("/refetch"),
  "GET /hosts/:id/software": onHost("/software"),
  "GET /sessions/:id": {
    places,
    call: async (world, place) => ({ path: `/sessions/${await sessionAt(world, place)}` }),
  },
  "DELETE /sessions/:id": {
    places,
    call: async (world, place) => ({ path: `/sessions/${await sessionAt(world, place)}` }),
  },
  "GET /users/:id/sessions": onUser("/sessions"),
  "DELETE /users/:id/sessions": onUser("/sessions"),
  "GET /teams": anywhere("/teams"),
  "GET /teams/:id": onTeam(),
  "POST /teams": plain("/teams", () => ({ name: `made ${++names}` })),
  "PATCH /teams/:id": onTeam("", () => ({ description: `d${++names}` })),
  "DELETE /teams/:id": {
    places: ["own", "missing"],
    // A team of its own, that it may go: "own" for nobody, but deleting takes a global role anyway.
    call: async ({ t }, place) => ({ path: `/teams/${place === "missing" ? MISSING : (await makeTeam(t)).id}` }),
  },
  "GET /teams/:id/users": onTeam("/users"),
  "PATCH /teams/:id/users": onTeam("/users", () => ({ users: [] })),
  "DELETE /teams/:id/users": onTeam("/users", () => ({ users: [] })),
  "POST /teams/:id/agent_options": onTeam("/agent_options", () => ({ config: {} })),
  "GET /users": byTeamFilter("/users"),
  "POST /users/admin": {
    places: ["own", "other", "none"],
    call: async (world, place) => {
      const team = teamOf(world, place);
      const role = team === null ? { global_role: "observer" } : { teams: [{ id: team, role: "observer" }] };
      return { path: "/users/admin", body: { name: "Made", email: email(), password: "a-good-passw0rd!", ...role } };
    },
  },
  "GET /users/:id": onUser(),
  "PATCH /users/:id": onUser("", { name: "Renamed" }),
  "DELETE /users/:id": onUser(),
  "POST /users/:id/require_password_reset": onUser("/require_password_reset", { require: true }),
};

async function sessionAt(world: World, place: Place): Promise<number> {
  if (place === "missing") return MISSING;
  await makeSession(world.t, await userAt(world, place));
  return (await world.t.store.sessions.max("id")) as number;
}

function allowed(row: Row, target: Target, held: { role: Role; global: boolean }, place: Place): boolean {
  if (held.global) return mayGlobally(row, held.role);
  return (target.anywhere || place === "own") && mayOnTeam(row, held.role);
}

async function cast({ t, own }: World): Promise<{ role: Role; global: boolean; user: MadeUser }[]> {
  const people = [];
  for (const role of roles) {
    const more = { api_only: role === "gitops" };
    people.push({ role, global: true, user: await makeUser(t, role, more) });
    people.push({ role, global: false, user: await makeUser(t, { teams: [{ id: own, role }] }, more) });
  }
  return people;
}

it("covers every endpoint whose rule is a role", () => {
  const roleRules = Object.keys(rules).filter((key) => rules[key] !== "open" && rules[key] !== "self");
  expect(Object.keys(targets).sort()).toEqual(roleRules.sort());
});

it("allows what the table of roles allows, and nothing else", { timeout: 180_000 }, async () => {
  const t = await startApp();
  const world: World = { t, own: (await makeTeam(t)).id, other: (await makeTeam(t)).id };
  const people = await cast(world);
  const wrong: string[] = [];
  let calls = 0;
  for (const { endpoint } of allEndpoints) {
    const key = `${endpoint.method} ${endpoint.path}`;
    const target = targets[key];
    if (!target) continue;
    const row = rules[key] as Row;
    for (const person of people) {
      const statuses: Partial<Record<Place, number>> = {};
      for (const place of target.places) {
        const { path, body } = await target.call(world, place);
        const res = await person.user.request(endpoint.method, path, body);
        calls++;
        statuses[place] = res.status;
        const may = allowed(row, target, person, place);
        const who = `${person.global ? "global" : "team"} ${person.role}: ${key} (${place}): ${res.status}`;
        // Of a user's own things the table says nothing: here none of the objects is the caller's.
        if (!may && res.status < 400) wrong.push(`${who}, but is not allowed`);
        if (!may && res.status !== 403 && res.status !== 404) wrong.push(`${who}, want 403 or 404`);
        if (may && (res.status === 401 || res.status === 403)) wrong.push(`${who}, but is allowed`);
        if (may && place !== "missing" && res.status >= 400 && key !== "GET /config/certificate")
          wrong.push(`${who}, want success: ${await res.text()}`);
      }
      // To team users what belongs to others is as good as missing.
      if (!person.global && target.places.includes("missing") && target.places.includes("other"))
        if (statuses.other !== statuses.missing)
          wrong.push(`team ${person.role}: ${key}: other team's ${statuses.other}, missing ${statuses.missing}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(calls).toBeGreaterThan(1000);
});
