// Users and teams for tests, created through the API by the first admin.
import type { Role } from "../../src/api/access.ts";
import type { User } from "../../src/api/accounts/users.ts";
import type { Caller, TestApp } from "./app.ts";

export const PASSWORD = "plain-Sailing-42-times";

export interface Person extends Caller {
  readonly user: User;
  readonly token: string;
}

let made = 0;

/** A user with an API token: a global role, or roles by team id. */
export async function makeUser(t: TestApp, roles: Role | Record<number, Role>, more: object = {}): Promise<Person> {
  made++;
  const held =
    typeof roles === "string"
      ? { global_role: roles }
      : { teams: Object.entries(roles).map(([id, role]) => ({ id: Number(id), role })) };
  const response = await t.post("/users/admin", {
    name: `User ${made}`,
    email: `user${made}@example.com`,
    password: PASSWORD,
    api_only: true,
    admin_forced_password_reset: false,
    ...held,
    ...more,
  });
  if (response.status !== 200) throw new Error(await response.text());
  const { user, token } = (await response.json()) as { user: User; token: string };
  return { ...t.as(token), user, token };
}

/** A user who is signed in with a password, like people. */
export async function makePerson(t: TestApp, roles: Role | Record<number, Role>, more: object = {}): Promise<Person> {
  const { user } = await makeUser(t, roles, { ...more, api_only: false });
  const { token } = (await (await login(t, user.email, PASSWORD)).json()) as { token: string };
  return { ...t.as(token), user, token };
}

export async function makeTeam(t: TestApp, name: string, more: object = {}): Promise<number> {
  const response = await t.post("/teams", { name, ...more });
  if (response.status !== 200) throw new Error(await response.text());
  return ((await response.json()) as { team: { id: number } }).team.id;
}

export async function login(
  t: TestApp,
  email: string,
  password: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return t.as(null).request("POST", "/login", { email, password }, headers);
}

export async function errorOf(response: Response) {
  return (await response.json()) as {
    message: string;
    code?: number;
    errors?: { name: string; reason: string }[];
  };
}
