// Sessions and limits on attempts are shared by all servers.
import type { BenchServer, Caller } from "../../../bench/support/serve.ts";
import { insist } from "../support/check.ts";
import { inAll } from "./figures.ts";

const EMAIL = "several@example.com";
const PASSWORD = "correct-horse-battery-4";
/** More than the sign-ins that are allowed per minute from one address, or for one account. */
const ATTEMPTS = 14;

async function signIn(server: BenchServer, email: string, password: string, address: string) {
  const reply = await server.send("/api/v1/svc/login", {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": address },
    body: JSON.stringify({ email, password }),
  });
  const { token } = (await reply.json()) as { token?: string };
  return { status: reply.status, token: token ?? "" };
}

/** The status with which each server replies to the token. */
const answersTo = (server: BenchServer, token: string): Promise<number[]> =>
  inAll(async () => {
    const reply = await server.send("/api/v1/svc/me", { headers: { authorization: `Bearer ${token}` } });
    await reply.text();
    return reply.status;
  });

/** Every session works on every server; when one is ended, it has ended on all of them by the time of the reply. */
export async function endSessions(server: BenchServer, call: Caller): Promise<unknown> {
  const body = { name: "Several", email: EMAIL, password: PASSWORD, global_role: "observer" };
  const given = { ...body, admin_forced_password_reset: false };
  const { user } = await call<{ user: { id: number } }>("POST", "/users/admin", given);
  const tokens: string[] = [];
  for (let i = 0; i < 4; i++) tokens.push((await signIn(server, EMAIL, PASSWORD, "10.1.0.1")).token);
  const open = async () => (await call<{ sessions: unknown[] }>("GET", `/users/${user.id}/sessions`)).sessions.length;
  const all = () => Promise.all(tokens.map((token) => answersTo(server, token)));
  const steps: unknown[] = [await all(), await open()];
  const headers = { authorization: `Bearer ${tokens[0]}`, "content-type": "application/json" };
  await (await server.send("/api/v1/svc/logout", { method: "POST", headers, body: "{}" })).text();
  steps.push(await all(), await open());
  const { sessions } = await call<{ sessions: { session_id: number }[] }>("GET", `/users/${user.id}/sessions`);
  await call("DELETE", `/sessions/${Math.min(...sessions.map(({ session_id }) => session_id))}`);
  steps.push(await all(), await open());
  await call("DELETE", `/users/${user.id}/sessions`);
  steps.push(await all(), await open());
  insist(
    (await all()).flat().every((status) => status === 401),
    () => `sessions that ended go on: ${JSON.stringify(steps)}`,
  );
  return steps;
}

/** Three servers accept the same number of concurrent wrong sign-ins as one server: per address, and per account. */
export async function meetLimits(server: BenchServer): Promise<unknown> {
  const tally = async (attempt: (i: number) => Promise<{ status: number }>) => {
    const counts: Record<number, number> = {};
    for (const { status } of await Promise.all(Array.from({ length: ATTEMPTS }, (_, i) => attempt(i))))
      counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };
  return {
    address: await tally((i) => signIn(server, `nobody-${i}@example.com`, "wrong", "10.2.0.1")),
    account: await tally((i) => signIn(server, "nobody@example.com", "wrong", `10.3.0.${i}`)),
  };
}
